package webhook

import (
	"errors"
	"net/netip"
)

// ErrPrivateAddress says that an endpoint's name led to addresses outside the
// public internet only, and that the endpoint does not allow these.
var ErrPrivateAddress = errors.New("webhook endpoint has no public address")

// special holds the networks that are refused, beyond those that package netip
// knows by name. The list follows the registries of special-purpose addresses.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // "this network"
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT; some clouds' metadata
	netip.MustParsePrefix("168.63.129.16/32"), // a public address that one cloud uses for metadata
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments; some clouds' metadata
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation
	netip.MustParsePrefix("192.88.99.0/24"),   // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and broadcast
	netip.MustParsePrefix("2001::/23"),        // protocol assignments, Teredo among them
	netip.MustParsePrefix("2001:db8::/32"),    // documentation
	netip.MustParsePrefix("2002::/16"),        // 6to4: leads to any IPv4 address
	netip.MustParsePrefix("3fff::/20"),        // documentation
}

var (
	globalUnicast6 = netip.MustParsePrefix("2000::/3")
	nat64          = netip.MustParsePrefix("64:ff9b::/96")
)

// public reports whether addr is an ordinary address of the public internet.
func public(addr netip.Addr) bool {
	addr = addr.Unmap() // ::ffff:10.0.0.1 reaches 10.0.0.1
	if nat64.Contains(addr) {
		// The translator connects to the IPv4 address in the last four bytes.
		b := addr.As16()
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	switch {
	case !addr.IsValid(), addr.Zone() != "":
		return false
	case !addr.IsGlobalUnicast(), addr.IsPrivate():
		return false // also loopback, link-local, multicast, unspecified
	case addr.Is6() && !globalUnicast6.Contains(addr):
		return false // site-local, IPv4-compatible, local NAT64, and what is not assigned
	}
	for _, network := range special {
		if network.Contains(addr) {
			return false
		}
	}
	return true
}
