package webhook

import (
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		// IPv4, with the neighbours of each network.
		"8.8.8.8": true, "1.1.1.1": true, "223.255.255.255": true,
		"0.0.0.0": false, "0.255.255.255": false, "1.0.0.0": true,
		"9.255.255.255": true, "10.0.0.0": false, "10.255.255.255": false, "11.0.0.0": true,
		"100.63.255.255": true, "100.64.0.0": false, "100.100.100.200": false, "100.127.255.255": false, "100.128.0.0": true,
		"126.255.255.255": true, "127.0.0.1": false, "127.255.255.255": false, "128.0.0.0": true,
		"168.63.129.15": true, "168.63.129.16": false, "168.63.129.17": true,
		"169.253.255.255": true, "169.254.0.0": false, "169.254.169.254": false, "169.254.255.255": false, "169.255.0.0": true,
		"172.15.255.255": true, "172.16.0.0": false, "172.31.255.255": false, "172.32.0.0": true,
		"191.255.255.255": true, "192.0.0.0": false, "192.0.0.192": false, "192.0.1.0": true, "192.0.2.1": false, "192.0.3.0": true,
		"192.88.98.255": true, "192.88.99.1": false, "192.88.100.0": true,
		"192.167.255.255": true, "192.168.0.0": false, "192.168.255.255": false, "192.169.0.0": true,
		"198.17.255.255": true, "198.18.0.0": false, "198.19.255.255": false, "198.20.0.0": true,
		"198.51.99.255": true, "198.51.100.1": false, "198.51.101.0": true,
		"203.0.112.255": true, "203.0.113.1": false, "203.0.114.0": true,
		"224.0.0.0": false, "239.255.255.255": false, "240.0.0.0": false, "255.255.255.255": false,
		// IPv6.
		"2606:4700:4700::1111": true, "2a00:1450:4001:81b::200e": true,
		"::": false, "::1": false, "::2": false, "::8.8.8.8": false,
		"fe80::1": false, "fe80::1%eth0": false, "2606:4700::1%eth0": false, "febf::1": false, "fec0::1": false,
		"fc00::1": false, "fd00:ec2::254": false, "fd20:ce::254": false, "fe00::1": false,
		"ff00::1": false, "ff02::1": false, "ff0e::1": false,
		"100::1": false, "1fff::1": false, "4000::1": false, "5f00::1": false,
		"2001::1": false, "2001:1ff:ffff::1": false, "2001:200::1": true, "2001:db8::1": false, "2001:db9::1": true,
		"2002:a00:1::1": false, "2003::1": true, "3fff::1": false, "3fff:fff::1": false, "3fff:1000::1": true,
		// One family within the other.
		"::ffff:10.0.0.1": false, "::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "::ffff:8.8.8.8": true,
		"64:ff9b::8.8.8.8": true, "64:ff9b::10.0.0.1": false, "64:ff9b::169.254.169.254": false, "64:ff9b:1::8.8.8.8": false,
	} {
		if got := public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: got %v, want %v", addr, got, want)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address at all is public")
	}
}
