//! An access record as one line of JSON.
//! Reading rings and writing files is `access_log`'s business. Serves it.

use std::fmt::Write;
use std::net::SocketAddr;

use session::close_reason::CloseReason;
use table::layout::{ACCESS_HTTP10, ACCESS_HTTP11, ACCESS_TCP, ACCESS_UPGRADE};

use crate::shared::AccessRecord;

/// Appends the record and a newline. Every byte a peer chose is escaped, so a line is always one valid JSON object.
pub fn write_line(out: &mut String, record: &AccessRecord<'_>) {
    out.push_str("{\"time\":\"");
    write_time(out, record.time_us / 1000);
    out.push('"');
    text(out, "listener", record.listener);
    text(out, "route", record.action);
    address(out, "endpoint", record.upstream);
    address(out, "peer", Some(record.client));
    text(out, "protocol", protocol(record.protocol).as_bytes());
    if record.protocol != ACCESS_TCP {
        text(out, "method", record.method);
        text(out, "host", record.host);
        text(out, "path", record.path);
        text(out, "user_agent", record.user_agent);
        number(out, "status", u64::from(record.status));
    }
    number(out, "bytes_in", record.bytes_in);
    number(out, "bytes_out", record.bytes_out);
    millis(out, "duration_ms", record.duration_us);
    // 0 stands for "no answer came".
    if record.upstream_us != 0 {
        millis(out, "upstream_ms", record.upstream_us);
    }
    number(out, "retries", u64::from(record.retries));
    text(
        out,
        "close_reason",
        CloseReason::from_number(record.close_reason).map_or("unknown", CloseReason::word).as_bytes(),
    );
    number(out, "generation", record.generation);
    out.push_str("}\n");
}

fn protocol(number: u8) -> &'static str {
    match number {
        ACCESS_HTTP10 => "HTTP/1.0",
        ACCESS_HTTP11 => "HTTP/1.1",
        ACCESS_TCP => "TCP",
        ACCESS_UPGRADE => "upgrade",
        _ => "unknown",
    }
}

/// Empty texts are left out: nothing matched, nothing was sent.
fn text(out: &mut String, key: &str, value: &[u8]) {
    if value.is_empty() {
        return;
    }
    member(out, key);
    out.push('"');
    escape(out, value);
    out.push('"');
}

fn number(out: &mut String, key: &str, value: u64) {
    member(out, key);
    // Writing into a String cannot fail.
    let _ = write!(out, "{value}");
}

fn millis(out: &mut String, key: &str, micros: u64) {
    member(out, key);
    let _ = write!(out, "{}.{:03}", micros / 1000, micros % 1000);
}

fn address(out: &mut String, key: &str, value: Option<SocketAddr>) {
    if let Some(value) = value {
        member(out, key);
        let _ = write!(out, "\"{value}\"");
    }
}

fn member(out: &mut String, key: &str) {
    out.push_str(",\"");
    out.push_str(key);
    out.push_str("\":");
}

/// RFC 8259 §7, and C1 control characters too, which some terminals obey; what is no UTF-8 becomes U+FFFD.
fn escape(out: &mut String, value: &[u8]) {
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                control if control.is_control() => {
                    let _ = write!(out, "\\u{:04x}", u32::from(control));
                }
                other => out.push(other),
            }
        }
        if !chunk.invalid().is_empty() {
            out.push('\u{fffd}');
        }
    }
}

/// RFC 3339 in UTC with milliseconds.
fn write_time(out: &mut String, unix_ms: u64) {
    let (days, ms) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000);
}

/// Days since 1970-01-01 → year, month, day in the Gregorian calendar.
///
/// Counted from 0000-03-01, so that the leap day is the last day of a year and months have a regular length pattern.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let day = days + DAYS_TO_1970;
    let (era, day) = (day / DAYS_IN_400_YEARS, day % DAYS_IN_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(record: &AccessRecord<'_>) -> String {
        let mut out = String::new();
        write_line(&mut out, record);
        out
    }

    fn record() -> AccessRecord<'static> {
        AccessRecord {
            time_us: 1_796_077_564_042_999,
            duration_us: 12_034,
            upstream_us: 900,
            generation: 3,
            bytes_in: 10,
            bytes_out: u64::MAX,
            client: "[2001:db8::1]:5000".parse().unwrap(),
            upstream: Some("10.0.0.1:80".parse().unwrap()),
            status: 200,
            protocol: ACCESS_HTTP11,
            close_reason: 255,
            retries: 0,
            method: b"GET",
            host: b"example.com",
            path: b"/a?b=c",
            listener: b"default/edge/http",
            action: b"HTTPRoute/default/web/0",
            user_agent: b"",
        }
    }

    #[test]
    fn a_request_is_one_object_on_one_line() {
        assert_eq!(
            line(&record()),
            "{\"time\":\"2026-11-30T22:26:04.042Z\",\"listener\":\"default/edge/http\",\
             \"route\":\"HTTPRoute/default/web/0\",\"endpoint\":\"10.0.0.1:80\",\"peer\":\"[2001:db8::1]:5000\",\
             \"protocol\":\"HTTP/1.1\",\"method\":\"GET\",\"host\":\"example.com\",\"path\":\"/a?b=c\",\"status\":200,\
             \"bytes_in\":10,\"bytes_out\":18446744073709551615,\"duration_ms\":12.034,\"upstream_ms\":0.900,\
             \"retries\":0,\"close_reason\":\"unknown\",\"generation\":3}\n"
        );
    }

    #[test]
    fn a_tcp_session_without_an_endpoint_has_no_http_members() {
        let session = AccessRecord { protocol: ACCESS_TCP, upstream: None, upstream_us: 0, action: b"", ..record() };
        let text = line(&session);
        for absent in ["method", "path", "status", "endpoint", "upstream_ms", "route"] {
            assert!(!text.contains(&format!("\"{absent}\":")), "{text}");
        }
    }

    #[test]
    fn what_a_peer_sends_cannot_leave_its_string() {
        let evil = b"/\"},{\"x\":\"\\\r\n\0\x1b[2J\x7f\xc2\x9b\xff\xe2\x82\xc3\xa9";
        let text = line(&AccessRecord { path: evil, ..record() });
        assert!(
            text.contains(
                "\"path\":\"/\\\"},{\\\"x\\\":\\\"\\\\\\r\\n\\u0000\\u001b[2J\\u007f\\u009b\u{fffd}\u{fffd}é\""
            )
        );
        assert_eq!(text.matches('\n').count(), 1);
        assert!(!text.trim_end().chars().any(char::is_control));
    }

    #[test]
    fn dates_are_right_at_the_edges_of_the_calendar() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_787, (2026, 11, 30)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
            (2_932_896, (9999, 12, 31)),
        ] {
            assert_eq!(civil(days), date);
        }
    }
}
