//! The chunked decoder: case by case, and against a naive decoder that sees the whole body at once.

use proptest::prelude::*;
use proto::h1::{ChunkError, Chunked};

/// All data and the length of the body, however `bytes` is cut; `None` when it is incomplete.
fn decode(bytes: &[u8], piece: usize) -> Result<Option<(Vec<u8>, usize)>, ChunkError> {
    let mut decoder = Chunked::new();
    let mut data = Vec::new();
    let mut at = 0;
    for segment in bytes.chunks(piece.max(1)) {
        let mut rest = segment;
        while !rest.is_empty() {
            let step = decoder.feed(rest)?;
            assert!(step.data.end == step.consumed && step.data.start <= step.data.end);
            assert!(step.consumed > 0 || step.done, "no progress");
            data.extend_from_slice(&rest[step.data]);
            at += step.consumed;
            if step.done {
                assert!(decoder.is_done());
                return Ok(Some((data, at)));
            }
            rest = &rest[step.consumed..];
        }
    }
    Ok(None)
}

#[test]
fn data_is_given_out_and_the_end_is_exact() {
    let cases: [(&str, &str); 6] = [
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5\r\nhello\r\n6;a=b\r\n world\r\n000\r\n\r\n", "hello world"),
        ("a;x=\"q;\\\"\t\u{e9}\"\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("A \t;x\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("0\r\nExpires: never\r\nX-Check:\r\n\r\n", ""),
        ("0000000000000001\r\nx\r\n0\r\n\r\n", "x"),
    ];
    for (body, data) in cases {
        let wire = format!("{body}GET /next");
        for piece in 1..=wire.len() {
            assert_eq!(
                decode(wire.as_bytes(), piece),
                Ok(Some((data.as_bytes().to_vec(), body.len()))),
                "{body:?} {piece}"
            );
        }
        for cut in 0..body.len() {
            assert_eq!(decode(&body.as_bytes()[..cut], cut), Ok(None), "{body:?} {cut}");
        }
    }
}

#[test]
fn faults_are_refused_however_the_bytes_are_cut() {
    let cases = [
        ("\r\n", ChunkError::Size),
        (";x\r\n", ChunkError::Size),
        (" 5\r\n", ChunkError::Size),
        ("+5\r\n", ChunkError::Size),
        ("0x5\r\n", ChunkError::Size),
        ("5g\r\n", ChunkError::Size),
        ("5 \r\n", ChunkError::Size),
        ("5 5\r\n", ChunkError::Size),
        ("5,5\r\n", ChunkError::Size),
        ("\n", ChunkError::LineEnd),
        ("5\n", ChunkError::LineEnd),
        ("5\rx", ChunkError::LineEnd),
        ("5;a\n", ChunkError::LineEnd),
        ("5;a\rb", ChunkError::LineEnd),
        ("5;a\0", ChunkError::ControlCharacter),
        ("8000000000000000\r\n", ChunkError::SizeTooLarge),
        ("ffffffffffffffff\r\n", ChunkError::SizeTooLarge),
        ("00000000000000001\r\n", ChunkError::SizeTooLarge),
        ("1\r\nxy", ChunkError::DataEnd),
        ("1\r\nx\n", ChunkError::DataEnd),
        ("1\r\nx\rx", ChunkError::DataEnd),
        ("0\r\n\n", ChunkError::Trailer),
        ("0\r\n\rx", ChunkError::LineEnd),
        ("0\r\n: x\r\n", ChunkError::Trailer),
        ("0\r\n folded\r\n", ChunkError::Trailer),
        ("0\r\nX : y\r\n", ChunkError::Trailer),
        ("0\r\nX\r\n", ChunkError::Trailer),
        ("0\r\nX: y\n", ChunkError::LineEnd),
        ("0\r\nX: y\rz", ChunkError::LineEnd),
        ("0\r\nX: \x01", ChunkError::ControlCharacter),
        ("0\r\nContent-Length: 5\r\n", ChunkError::TrailerForbidden),
        ("0\r\nA: b\r\ntransfer-encoding: x\r\n", ChunkError::TrailerForbidden),
        ("0\r\nX-Forwarded-For: 192.0.2.1\r\n", ChunkError::TrailerForbidden),
        ("0\r\nx_forwarded_for: 192.0.2.1\r\n", ChunkError::TrailerForbidden),
        ("0\r\nHost: a\r\n", ChunkError::TrailerForbidden),
    ];
    for (wire, fault) in cases {
        for piece in 1..=wire.len() {
            assert_eq!(decode(wire.as_bytes(), piece), Err(fault), "{wire:?} {piece}");
        }
    }
}

#[test]
fn extensions_and_trailers_are_bounded() {
    let extension = |len: usize| format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(len));
    assert!(decode(extension(1023).as_bytes(), 999).is_ok());
    assert_eq!(decode(extension(1024).as_bytes(), 999), Err(ChunkError::ExtensionTooLong));

    let many = format!("1;{}\r\nx\r\n", "e".repeat(999)).repeat(20);
    assert_eq!(decode(many.as_bytes(), 7), Err(ChunkError::ExtensionTooLong));
    // An upload that signs each chunk may go on for ever.
    let signed = format!("400;chunk-signature={}\r\n{}\r\n", "0".repeat(64), "x".repeat(0x400)).repeat(500);
    assert_eq!(decode(signed.as_bytes(), 4096), Ok(None));

    let trailers = |len: usize| format!("0\r\nX: {}\r\n\r\n", "t".repeat(len));
    assert!(decode(trailers(8189).as_bytes(), 999).is_ok());
    assert_eq!(decode(trailers(8190).as_bytes(), 999), Err(ChunkError::TrailerTooLarge));
    let name = format!("0\r\n{}: x\r\n\r\n", "n".repeat(8000));
    assert!(decode(name.as_bytes(), 1).is_ok());
}

/// A decoder that takes its time: whole body or nothing, lines by searching, no state.
fn naive(wire: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut data = Vec::new();
    let mut at = 0;
    let line =
        |at: usize| wire[at..].windows(2).position(|two| two == b"\r\n").map(|len| (&wire[at..at + len], at + len + 2));
    loop {
        let (size_line, next) = line(at)?;
        let digits = size_line.split(|&byte| byte == b';').next()?;
        let digits = if digits.len() < size_line.len() { digits.trim_ascii_end() } else { digits };
        let is_size = !digits.is_empty() && digits.len() <= 16 && digits.iter().all(u8::is_ascii_hexdigit);
        let clean = size_line.iter().all(|&byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f));
        if !is_size || !clean {
            return None;
        }
        let size = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        if size == 0 {
            at = next;
            break;
        }
        let end = next.checked_add(usize::try_from(size).ok()?)?;
        data.extend_from_slice(wire.get(next..end)?);
        if wire.get(end..end + 2)? != b"\r\n" {
            return None;
        }
        at = end + 2;
    }
    loop {
        let (trailer, next) = line(at)?;
        at = next;
        if trailer.is_empty() {
            return Some((data, at));
        }
        let colon = trailer.iter().position(|&byte| byte == b':')?;
        let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        let clean = trailer[colon..].iter().all(|&byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f));
        if colon == 0 || !trailer[..colon].iter().all(is_token) || !clean {
            return None;
        }
    }
}

fn wire() -> impl Strategy<Value = Vec<u8>> {
    let chunk = (prop::collection::vec(any::<u8>(), 1..40), prop::sample::select(vec!["", ";a=b", " ;c", ";\"q\""]));
    let chunks = prop::collection::vec(chunk, 0..5);
    let trailers = prop::collection::vec(prop::sample::select(vec!["A: b\r\n", "X-Check:\r\n", "c:d\r\n"]), 0..3);
    let noise =
        prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b"\r\n;:0fg \t\0".to_vec())), 0..2);
    (chunks, trailers, noise, prop::collection::vec(any::<u8>(), 0..9)).prop_map(|(chunks, trailers, noise, rest)| {
        let mut wire = Vec::new();
        for (data, extension) in chunks {
            wire.extend_from_slice(format!("{:x}{extension}\r\n", data.len()).as_bytes());
            wire.extend_from_slice(&data);
            wire.extend_from_slice(b"\r\n");
        }
        wire.extend_from_slice(b"0\r\n");
        wire.extend(trailers.concat().bytes());
        wire.extend_from_slice(b"\r\n");
        wire.extend_from_slice(&rest);
        for (at, byte) in noise {
            let at = at.index(wire.len());
            wire[at] = byte;
        }
        wire
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn the_decoder_and_a_naive_one_agree_however_the_bytes_are_cut(wire in wire(), piece in 1usize..64) {
        let strict = decode(&wire, piece);
        prop_assert_eq!(&strict, &decode(&wire, wire.len()));
        prop_assert_eq!(strict.unwrap_or(None), naive(&wire));
    }

    #[test]
    fn scan_ends_where_feed_ends(wire in wire(), piece in 1usize..64) {
        let mut decoder = Chunked::new();
        let mut at = 0;
        let scanned = wire.chunks(piece).try_for_each(|segment| {
            if !decoder.is_done() {
                at += decoder.scan(segment)?.consumed;
            }
            Ok::<_, ChunkError>(())
        });
        match decode(&wire, wire.len()) {
            Ok(Some((_, end))) => prop_assert_eq!((scanned, decoder.is_done(), at), (Ok(()), true, end)),
            Ok(None) => prop_assert_eq!((scanned, decoder.is_done(), at), (Ok(()), false, wire.len())),
            Err(fault) => prop_assert_eq!(scanned, Err(fault)),
        }
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1usize..16) {
        let _ = decode(&bytes, piece);
    }
}
