package kafka_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/satchel-go/satchel/adapters-kafka/internal/kafkatest"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
)

func TestAuthentication(t *testing.T) {
	t.Parallel()
	for _, mechanism := range []kafka.Mechanism{kafka.Plain, kafka.ScramSHA256, kafka.ScramSHA512} {
		t.Run(string(mechanism), func(t *testing.T) {
			t.Parallel()
			c := kafkatest.Fake(t, kfake.EnableSASL(), kfake.Superuser(string(mechanism), "app", "hunter2"))
			if err := c.CreateTopic("orders", 1, nil); err != nil {
				t.Fatal(err)
			}
			with := func(password kafka.Secret) *kafka.Handler {
				return open(t, c.ListenAddrs(), func(cfg *kafka.Config) {
					cfg.SASL = kafka.SASL{Mechanism: mechanism, User: "app", Password: password}
				})
			}
			deliver(t, with("hunter2"), entry("orders", "order-1", `1`))

			err := with("wrong-password").Deliver(within(t), entry("orders", "order-1", `2`))
			wantVerdict(t, err, delivery.VerdictUnavailable)
			if strings.Contains(err.Error(), "wrong-password") {
				t.Errorf("the error repeats the password: %v", err)
			}
		})
	}
}

func TestEncryption(t *testing.T) {
	t.Parallel()
	certificate, roots := selfSigned(t)
	c := kafkatest.Fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{certificate}}))
	if err := c.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	trusting := open(t, c.ListenAddrs(), func(cfg *kafka.Config) { cfg.TLS = &tls.Config{RootCAs: roots} })
	deliver(t, trusting, entry("orders", "order-1", `1`))

	wary := open(t, c.ListenAddrs(), func(cfg *kafka.Config) { cfg.TLS = &tls.Config{} })
	wantVerdict(t, wary.Deliver(within(t), entry("orders", "order-1", `2`)), delivery.VerdictUnavailable)
}

func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}
