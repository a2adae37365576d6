package severable

import (
	"net"

	"github.com/IBM/sarama"
)

// Install makes a private copy of cfg use a new Dialer, in front of the proxy that
// cfg names or of plain TCP, and returns both.
func Install(cfg *sarama.Config) (*sarama.Config, *Dialer) {
	private := *cfg
	var base Base = &net.Dialer{
		Timeout:   cfg.Net.DialTimeout,
		KeepAlive: cfg.Net.KeepAlive,
		LocalAddr: cfg.Net.LocalAddr,
	}
	if cfg.Net.Proxy.Enable && cfg.Net.Proxy.Dialer != nil {
		base = cfg.Net.Proxy.Dialer
	}
	d := New(base)
	private.Net.Proxy.Enable = true
	private.Net.Proxy.Dialer = d
	return &private, d
}
