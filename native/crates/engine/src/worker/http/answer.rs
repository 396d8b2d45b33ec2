//! Bodies of answers on their way to the client: looked at where framing demands it, else spliced.

use proto::h1::{CHUNK_END, write_chunk_head};
use session::CloseReason;
use table::counters;

use super::super::core::Core;
use super::super::os::Os;
use super::super::pump::{Flow, Stop};
use super::super::slab::Key;
use super::Http;
use super::down::Phase;
use super::exchange::{Body, Coding};
use super::up::Outcome;

/// An answer body of which at least this much is still to come is spliced from the start.
const BULK_BODY: u64 = 64 * 1024;

impl<O: Os> Http<O> {
    /// Passes body bytes (behind `head`, if this is the first piece) to the client.
    pub(super) fn pass_body(
        &mut self,
        core: &mut Core<O>,
        key: Key,
        down_key: Key,
        head: Option<&mut Vec<u8>>,
        bytes: &[u8],
    ) -> Outcome {
        let (Some(up), Some(down)) = (self.ups.get_mut(key), self.downs.get_mut(down_key)) else {
            return Outcome::Gone;
        };
        let Phase::Exchange(exchange) = &mut down.phase else { return Outcome::Gone };
        let first = head.is_some();
        let mut own = Vec::new();
        let tx = head.unwrap_or(&mut own);
        let head_len = tx.len();
        exchange.head_bytes.1 += head_len as u32;
        exchange.progress_ms = core.now_ms;
        let mut malformed = false;
        let piece: &[u8] = match (&mut exchange.answer, exchange.coding) {
            (Body::Done, _) => {
                exchange.keep_up &= bytes.is_empty();
                b""
            }
            (Body::Length(left), _) => {
                let n = (*left).min(bytes.len() as u64) as usize;
                *left -= n as u64;
                if first {
                    up.bulk = *left >= BULK_BODY;
                }
                exchange.keep_up &= n == bytes.len();
                if *left == 0 {
                    exchange.answer = Body::Done;
                } else if first && up.bulk {
                    exchange.flow = Flow::bulk();
                }
                &bytes[..n]
            }
            (Body::UntilClose, Coding::Chunk) => {
                if !bytes.is_empty() {
                    write_chunk_head(tx, bytes.len());
                    tx.extend_from_slice(bytes);
                    tx.extend_from_slice(CHUNK_END);
                }
                b""
            }
            (Body::UntilClose, _) => bytes,
            (Body::Chunked(chunked), Coding::Dechunk) => {
                let mut rest = bytes;
                let mut done = false;
                while !rest.is_empty() && !done {
                    match chunked.feed(rest) {
                        Ok(step) => {
                            tx.extend_from_slice(&rest[step.data.clone()]);
                            rest = &rest[step.consumed..];
                            done = step.done;
                        }
                        Err(_) => {
                            malformed = true;
                            break;
                        }
                    }
                }
                if done {
                    exchange.keep_up &= rest.is_empty();
                    exchange.answer = Body::Done;
                }
                b""
            }
            (Body::Chunked(chunked), _) => match chunked.scan(bytes) {
                Ok(scan) => {
                    if scan.done {
                        exchange.keep_up &= scan.consumed == bytes.len();
                        exchange.answer = Body::Done;
                    }
                    &bytes[..scan.consumed]
                }
                Err(_) => {
                    malformed = true;
                    b""
                }
            },
        };
        if malformed {
            core.shared.counters.add(up.endpoint.slot, counters::endpoint::FAILURES, 1);
            self.abort(core, down_key, CloseReason::BadResponseBody);
            return Outcome::Gone;
        }
        exchange.bytes_out += (tx.len() - head_len + piece.len()) as u64;
        // Small pieces are cheaper copied behind the head than sent as a second vector.
        let sent = if piece.len() <= 4096 {
            tx.extend_from_slice(piece);
            down.link.send(&mut core.os, tx)
        } else {
            down.link.send_two(&mut core.os, tx, piece)
        };
        if sent.is_err() {
            self.close_down(core, down_key, CloseReason::ClientReset, true);
            return Outcome::Gone;
        }
        if exchange.answer.is_done() {
            self.finish(core, down_key);
            return Outcome::Gone;
        }
        Outcome::More
    }

    /// Moves an answer body of known length without looking at it.
    pub(super) fn pump_answer(&mut self, core: &mut Core<O>, down_key: Key, key: Key) {
        let (Some(up), Some(down)) = (self.ups.get_mut(key), self.downs.get_mut(down_key)) else { return };
        let Phase::Exchange(exchange) = &mut down.phase else { return };
        let Body::Length(left) = exchange.answer else { return };
        let (budget, most) = (core.splice_budget(), core.high_water());
        let pumped = exchange.flow.pump(
            &mut core.os,
            &mut core.pipes,
            &mut core.rx[..most],
            (&mut up.link, &mut down.link),
            left,
            budget,
        );
        exchange.answer = Body::Length(left - pumped.taken);
        exchange.bytes_out += pumped.taken;
        core.shared.counters.add(up.endpoint.slot, counters::endpoint::BYTES_IN, pumped.taken);
        if pumped.taken > 0 {
            exchange.progress_ms = core.now_ms;
        }
        match pumped.stop {
            Stop::Blocked => {}
            Stop::Budget => up.queue(core),
            Stop::Limit => {
                exchange.answer = Body::Done;
                self.finish(core, down_key);
            }
            Stop::Ended => self.up_ended(core, key, false),
            Stop::SourceFailed(_) => self.up_ended(core, key, true),
            Stop::TargetFailed(_) => self.close_down(core, down_key, CloseReason::ClientReset, true),
        }
    }
}
