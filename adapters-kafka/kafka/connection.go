package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/fault"
)

// DefaultClientID is what the cluster sees as the client's name.
const DefaultClientID = "satchel"

// Connection says how to reach a cluster. It is used for sending and for receiving.
type Connection struct {
	// Brokers are the addresses to start from, as "host:port"; at least one.
	Brokers []string
	// ClientID names this client in the cluster's logs and quotas; empty means the one
	// of the sarama configuration, or "satchel" if that is the default.
	ClientID string
	// TLS switches encryption on; nil leaves it as in the sarama configuration.
	TLS *tls.Config
	// SASL authenticates the client; the zero value leaves it as in the sarama
	// configuration.
	SASL SASL
}

// SASL authenticates with a user name and a password.
type SASL struct {
	// Mechanism is one of the constants below; empty switches authentication off.
	Mechanism Mechanism
	// User is the name; required with a mechanism, and refused without one.
	User string
	// Password is never printed; required with a mechanism, and refused without one.
	Password Secret
}

// Mechanism is a way to prove knowledge of a password.
type Mechanism string

// The mechanisms.
const (
	// Plain sends the password itself: use it with TLS only.
	Plain Mechanism = sarama.SASLTypePlaintext
	// ScramSHA256 proves knowledge of the password without sending it.
	ScramSHA256 Mechanism = sarama.SASLTypeSCRAMSHA256
	// ScramSHA512 does the same with the longer hash.
	ScramSHA512 Mechanism = sarama.SASLTypeSCRAMSHA512
)

// Validate returns all problems joined, each a *fault.Invalid, or nil. No error
// repeats an address, a user or a password.
func (c Connection) Validate() error { return errors.Join(c.problems()...) }

func (c Connection) problems() []error {
	var problems []error
	if len(c.Brokers) == 0 {
		problems = append(problems, fault.NewInvalid("kafka brokers", "are empty"))
	}
	for i, address := range c.Brokers {
		if !validAddress(address) {
			problems = append(problems, fault.NewInvalid(fmt.Sprintf("kafka broker %d", i), "is not of the form host:port"))
		}
	}
	return append(problems, c.SASL.problems()...)
}

func validAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n < 1<<16
}

func (s SASL) problems() []error {
	if s.Mechanism == "" {
		if s.User != "" || s.Password != "" {
			return []error{fault.NewInvalid("kafka SASL mechanism", "is empty although a user or a password is set")}
		}
		return nil
	}
	var problems []error
	if !slices.Contains([]Mechanism{Plain, ScramSHA256, ScramSHA512}, s.Mechanism) {
		problems = append(problems, fault.NewInvalid("kafka SASL mechanism", "is not one of PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512"))
	}
	if s.User == "" {
		problems = append(problems, fault.NewInvalid("kafka SASL user", "is empty"))
	}
	if s.Password == "" {
		problems = append(problems, fault.NewInvalid("kafka SASL password", "is empty"))
	}
	return problems
}

// Apply returns a copy of cfg that connects in this way.
func (c Connection) Apply(cfg *sarama.Config) *sarama.Config {
	out := *cfg
	if c.ClientID != "" {
		out.ClientID = c.ClientID
	}
	if c.TLS != nil {
		out.Net.TLS.Enable = true
		out.Net.TLS.Config = c.TLS.Clone()
	}
	if c.SASL.Mechanism != "" {
		out.Net.SASL.Enable = true
		out.Net.SASL.Mechanism = sarama.SASLMechanism(c.SASL.Mechanism)
		out.Net.SASL.User = c.SASL.User
		out.Net.SASL.Password = string(c.SASL.Password)
		out.Net.SASL.SCRAMClientGeneratorFunc = scramFor(c.SASL.Mechanism)
	}
	return &out
}
