//! One access-log record as the worker writes it into its ring and the primary's log thread reads it back.

use crate::layout::{AccessHead, LOG_MAX_PAYLOAD, Record};

/// Fixed fields and texts of one request or TCP session. The length fields of `head` are set by `encode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRecord<'a> {
    pub head: AccessHead,
    pub method: &'a [u8],
    /// Host as received.
    pub host: &'a [u8],
    /// Target as received, query included; cut when the record would be longer than `LOG_MAX_PAYLOAD`.
    pub path: &'a [u8],
    pub listener: &'a [u8],
    /// Empty when no route matched.
    pub action: &'a [u8],
    pub user_agent: &'a [u8],
}

/// Longest text that is kept of anything but the path.
const MAX_TEXT: usize = 512;
const MAX_PATH: usize = LOG_MAX_PAYLOAD - AccessHead::SIZE - 5 * MAX_TEXT;

impl<'a> AccessRecord<'a> {
    fn texts(&self) -> [&'a [u8]; 6] {
        let cut = |text: &'a [u8], most: usize| &text[..text.len().min(most)];
        [
            cut(self.method, MAX_TEXT),
            cut(self.host, MAX_TEXT),
            cut(self.path, MAX_PATH),
            cut(self.listener, MAX_TEXT),
            cut(self.action, MAX_TEXT),
            cut(self.user_agent, MAX_TEXT),
        ]
    }

    /// Bytes of the payload; at most `LOG_MAX_PAYLOAD`.
    pub fn encoded_len(&self) -> usize {
        AccessHead::SIZE + self.texts().iter().map(|text| text.len()).sum::<usize>()
    }

    /// Writes the payload and returns its length; 0 when `out` is shorter than `encoded_len`.
    pub fn encode(&self, out: &mut [u8]) -> usize {
        let length = self.encoded_len();
        if out.len() < length {
            return 0;
        }
        let texts = self.texts();
        let mut head = self.head;
        head.method_length = texts[0].len() as u16;
        head.host_length = texts[1].len() as u16;
        head.path_length = texts[2].len() as u16;
        head.listener_length = texts[3].len() as u16;
        head.action_length = texts[4].len() as u16;
        head.user_agent_length = texts[5].len() as u16;
        head.write(out);
        let mut at = AccessHead::SIZE;
        for text in texts {
            out[at..at + text.len()].copy_from_slice(text);
            at += text.len();
        }
        length
    }

    /// Reads a payload back; `None` when it is shorter than its own lengths say.
    pub fn decode(payload: &'a [u8]) -> Option<Self> {
        if payload.len() < AccessHead::SIZE {
            return None;
        }
        let head = AccessHead::read(payload);
        let mut rest = &payload[AccessHead::SIZE..];
        let mut take = |length: u16| {
            let (text, tail) = rest.split_at_checked(usize::from(length))?;
            rest = tail;
            Some(text)
        };
        Some(AccessRecord {
            head,
            method: take(head.method_length)?,
            host: take(head.host_length)?,
            path: take(head.path_length)?,
            listener: take(head.listener_length)?,
            action: take(head.action_length)?,
            user_agent: take(head.user_agent_length)?,
        })
    }
}
