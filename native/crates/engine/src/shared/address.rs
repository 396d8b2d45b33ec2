//! IP addresses as the shared records hold them: a family byte and sixteen bytes in network order.
//! Serves endpoint blocks and access records.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Family (4, 6; 0 for none) and bytes; IPv4 stands in the first four.
pub fn ip_bytes(ip: Option<IpAddr>) -> (u8, [u8; 16]) {
    match ip {
        None => (0, [0; 16]),
        Some(IpAddr::V6(ip)) => (6, ip.octets()),
        Some(IpAddr::V4(ip)) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            (4, bytes)
        }
    }
}

/// The address; None for any other family.
pub fn ip_from(family: u8, bytes: [u8; 16]) -> Option<IpAddr> {
    let [a, b, c, d, ..] = bytes;
    match family {
        4 => Some(Ipv4Addr::new(a, b, c, d).into()),
        6 => Some(Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_a_record() {
        for text in ["127.0.0.1", "0.0.0.0", "::1", "2001:db8::7", "::ffff:10.0.0.1"] {
            let ip: IpAddr = text.parse().unwrap();
            let (family, bytes) = ip_bytes(Some(ip));
            assert_eq!(ip_from(family, bytes), Some(ip));
        }
        assert_eq!(ip_bytes(None), (0, [0; 16]));
        assert_eq!(ip_from(0, [1; 16]), None);
    }
}
