package kafka

import (
	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// scramClient makes the SCRAM implementation fit sarama's interface. One client
// serves one authentication.
type scramClient struct {
	hash         scram.HashGeneratorFcn
	conversation *scram.ClientConversation
}

// scramFor returns the constructor for a mechanism, nil for one that is not SCRAM.
func scramFor(m Mechanism) func() sarama.SCRAMClient {
	switch m {
	case ScramSHA256:
		return func() sarama.SCRAMClient { return &scramClient{hash: scram.SHA256} }
	case ScramSHA512:
		return func() sarama.SCRAMClient { return &scramClient{hash: scram.SHA512} }
	}
	return nil
}

// Begin implements sarama.SCRAMClient.
func (c *scramClient) Begin(user, password, authzID string) error {
	client, err := c.hash.NewClient(user, password, authzID)
	if err != nil {
		return err
	}
	c.conversation = client.NewConversation()
	return nil
}

// Step implements sarama.SCRAMClient.
func (c *scramClient) Step(challenge string) (string, error) { return c.conversation.Step(challenge) }

// Done implements sarama.SCRAMClient.
func (c *scramClient) Done() bool { return c.conversation.Done() }
