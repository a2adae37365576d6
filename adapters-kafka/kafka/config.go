package kafka

import (
	"errors"
	"slices"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/fault"
)

// Config describes a [Handler]. Only Brokers is required.
type Config struct {
	// Connection says how to reach the cluster.
	Connection
	// Sarama is the producer's configuration; nil means [DefaultSaramaConfig]. It is
	// copied, and refused when it could lose or reorder records. Its partitioner is
	// used as it is.
	Sarama *sarama.Config
	// Names are the names of the headers; empty fields have the defaults given there.
	Names HeaderNames
	// Topics limits the handler to the topics that it returns; nil means all. It is
	// called once per claim cycle, see claim.Targets for what it may return.
	Topics func() []string
	// Tombstone says for which topics a JSON null payload becomes a record without a
	// value, which deletes the key from a compacted topic. Nil means for none: the
	// value is then the text null.
	Tombstone func(topic string) bool
}

// Validate returns all problems joined, each a *fault.Invalid that names the field
// and never a value, or nil.
func (c Config) Validate() error {
	return errors.Join(slices.Concat(c.problems(), c.Names.problems(), c.saramaProblems())...)
}

func (c Config) saramaProblems() []error {
	cfg := c.producerConfig()
	problems := producerProblems(cfg)
	if c.Sarama != nil && c.Sarama.Net.SASL.Enable && c.SASL.Mechanism != "" {
		problems = append(problems, fault.NewInvalid("kafka SASL", "is set both here and in the sarama configuration"))
	}
	if c.Sarama != nil && c.Sarama.Net.TLS.Enable && c.TLS != nil {
		problems = append(problems, fault.NewInvalid("kafka TLS", "is set both here and in the sarama configuration"))
	}
	if len(problems)+len(c.SASL.problems()) > 0 {
		return problems // sarama's own check stops at the first problem, likely one of these
	}
	if err := cfg.Validate(); err != nil {
		return []error{&fault.Invalid{Field: "sarama configuration", Reason: "was refused", Cause: err}}
	}
	return nil
}

// producerConfig returns the configuration in effect, a copy.
func (c Config) producerConfig() *sarama.Config {
	base := c.Sarama
	if base == nil {
		base = DefaultSaramaConfig()
	}
	return c.Apply(base)
}
