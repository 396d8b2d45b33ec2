//! The message kinds on the channel between primary and worker, and their payloads.
//! How they travel is `sys::channel`'s business. Serves host and worker.

/// Primary → worker: arg = column; descriptors: control, counters, gauges, cursors, endpoints, log ring.
pub const HELLO: u32 = 1;
/// Primary → worker: value = generation; descriptor: sealed memfd of the table.
pub const TABLE: u32 = 2;
/// Primary → worker: arg = socket id, value = 1 if lent; payload: member numbers as u16 LE; one descriptor for each.
pub const LISTEN: u32 = 3;
/// Primary → worker: arg = socket id, value = 1 to accept until EAGAIN first; payload: member numbers, none = all.
pub const UNLISTEN: u32 = 4;
/// Primary → worker: value = limit in ms. Finish what runs, take nothing new.
pub const DRAIN: u32 = 5;
/// Primary → worker: end now.
pub const STOP: u32 = 6;
/// Worker → primary: the loop runs and waits for HELLO.
pub const READY: u32 = 101;
/// Worker → primary: value = generation that every new request now sees.
pub const ACK: u32 = 102;
/// Worker → primary: value = generation that was refused; payload: why.
pub const REFUSED: u32 = 103;
/// Worker → primary: arg = socket id, value = how many members it serves now.
pub const LISTENING: u32 = 104;
/// Worker → primary: payload: what the loop panicked with; the process exits with status 70.
pub const PANIC: u32 = 105;
/// Worker → primary: nothing is open any more.
pub const DRAINED: u32 = 106;

/// The payload that names members of a socket's group.
pub fn encode_members(members: &[u16]) -> Vec<u8> {
    members.iter().flat_map(|member| member.to_le_bytes()).collect()
}

/// Reads member numbers from a payload; an odd last byte is ignored.
pub fn decode_members(payload: &[u8]) -> impl Iterator<Item = u16> + '_ {
    payload.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_survive_the_channel() {
        let members = [0, 1, 15, 256, u16::MAX];
        assert_eq!(decode_members(&encode_members(&members)).collect::<Vec<_>>(), members);
        assert_eq!(decode_members(&[1, 0, 9]).collect::<Vec<_>>(), [1]);
    }
}
