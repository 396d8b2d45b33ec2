//! Whether a client address is one of a listener's trusted networks.

use core::net::IpAddr;

use crate::layout::{ListenerRecord, NetworkRecord, Section};
use crate::table::{ListenerIdx, Table};

impl<B: AsRef<[u8]>> Table<B> {
    /// True when `x-forwarded-*` values of this peer may be believed.
    ///
    /// IPv4-mapped addresses count as IPv4; an IPv6 network (`::/0`) never covers IPv4 peers. Cost: O(log networks).
    pub fn is_trusted(&self, l: ListenerIdx, ip: IpAddr) -> bool {
        let listener: ListenerRecord = self.record(Section::Listeners, l.0);
        if listener.trusted_count == 0 {
            return false;
        }
        let key = address_key(ip);
        let (mut low, mut high) = (0, listener.trusted_count);
        while low < high {
            let middle = low + (high - low) / 2;
            let network: NetworkRecord = self.record(Section::Networks, listener.trusted_first.wrapping_add(middle));
            if key < (network.family, network.low) {
                high = middle;
            } else if key > (network.family, network.high) {
                low = middle + 1;
            } else {
                return true;
            }
        }
        false
    }
}

/// Family and address in the notation of `NetworkRecord`.
fn address_key(ip: IpAddr) -> (u32, [u8; 16]) {
    match ip.to_canonical() {
        IpAddr::V4(v4) => {
            let mut bytes = [0; 16];
            bytes[12..].copy_from_slice(&v4.octets());
            (4, bytes)
        }
        IpAddr::V6(v6) => (6, v6.octets()),
    }
}
