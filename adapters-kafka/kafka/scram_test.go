package kafka

import (
	"testing"

	"github.com/xdg-go/scram"
)

// exchange runs an authentication against a server that knows one password.
func exchange(t *testing.T, m Mechanism, hash scram.HashGeneratorFcn, known, given string) (done bool, err error) {
	t.Helper()
	reference, err := hash.NewClient("app", known, "")
	if err != nil {
		t.Fatal(err)
	}
	credentials, err := reference.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: 4096})
	if err != nil {
		t.Fatal(err)
	}
	server, err := hash.NewServer(func(string) (scram.StoredCredentials, error) { return credentials, nil })
	if err != nil {
		t.Fatal(err)
	}
	client, conversation := scramFor(m)(), server.NewConversation()
	if err := client.Begin("app", given, ""); err != nil {
		return false, err
	}
	challenge := ""
	for !client.Done() {
		response, err := client.Step(challenge)
		if err != nil {
			return false, err
		}
		if client.Done() {
			break
		}
		if challenge, err = conversation.Step(response); err != nil {
			return false, err
		}
	}
	return conversation.Valid(), nil
}

func TestScram(t *testing.T) {
	t.Parallel()
	for m, hash := range map[Mechanism]scram.HashGeneratorFcn{ScramSHA256: scram.SHA256, ScramSHA512: scram.SHA512} {
		if ok, err := exchange(t, m, hash, "hunter2", "hunter2"); err != nil || !ok {
			t.Errorf("%s with the right password: %v, %v", m, ok, err)
		}
		if _, err := exchange(t, m, hash, "hunter2", "hunter3"); err == nil {
			t.Errorf("%s with a wrong password succeeded", m)
		}
	}
	if scramFor(Plain) != nil {
		t.Error("PLAIN has a SCRAM client")
	}
	if err := scramFor(ScramSHA256)().Begin("app", "\u0007", ""); err == nil {
		t.Error("a password that the standard forbids was taken")
	}
}
