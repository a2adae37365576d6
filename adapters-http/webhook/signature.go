package webhook

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The headers of the Standard Webhooks scheme.
const (
	// HeaderID holds the message id: the same on every attempt.
	HeaderID = "Webhook-Id"
	// HeaderTimestamp holds the time of the attempt in Unix seconds.
	HeaderTimestamp = "Webhook-Timestamp"
	// HeaderSignature holds the signatures, separated by spaces.
	HeaderSignature = "Webhook-Signature"
)

// How far a timestamp may lie from the receiver's clock.
const (
	// DefaultTolerance is the default of [ReceiverConfig].
	DefaultTolerance = 5 * time.Minute
	// MaxTolerance is its bound: an hour. No clock that is kept is further off, and a
	// request that somebody recorded stays valid for as long.
	MaxTolerance = time.Hour
)

// signatureVersion identifies HMAC-SHA256 signatures.
const signatureVersion = "v1"

// What [Verify] can find wrong.
var (
	// ErrHeaders: a header of the scheme is missing or malformed.
	ErrHeaders = errors.New("webhook headers are missing or malformed")
	// ErrTimestamp: the timestamp is too old or too far in the future.
	ErrTimestamp = errors.New("webhook timestamp is outside the tolerance")
	// ErrSignature: no signature matches any of the secrets.
	ErrSignature = errors.New("webhook signature does not match")
)

// sign sets the three headers of the scheme, with one signature for each secret.
func sign(header http.Header, id string, at time.Time, body []byte, secrets []Secret) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = signatureVersion + "," + base64.StdEncoding.EncodeToString(secret.mac(id, timestamp, body))
	}
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, timestamp)
	header.Set(HeaderSignature, strings.Join(signatures, " "))
}

// Verify checks that body and the headers that belong to it were signed with one of
// the secrets, and lately: the timestamp may lie at most tolerance from this
// machine's clock, in both directions; a tolerance of 0 or less means
// [DefaultTolerance], and more than [MaxTolerance] counts as that. The body must be the bytes as received, not decoded and
// encoded again. Signatures of other versions are passed over.
//
// Only the message id, the timestamp and the body are signed. No other header is:
// trust them as far as the connection is trusted. Verify does not detect a replay
// within the tolerance; the inbox does, by the message id.
//
// The error is [ErrHeaders], [ErrTimestamp] or [ErrSignature].
func Verify(header http.Header, body []byte, secrets []Secret, tolerance time.Duration) error {
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	tolerance = min(tolerance, MaxTolerance)
	id, timestamp := header.Get(HeaderID), header.Get(HeaderTimestamp)
	signatures := strings.Fields(header.Get(HeaderSignature))
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	// A dot in the id would let one signed text be read as two different messages.
	if err != nil || id == "" || strings.Contains(id, ".") || len(signatures) == 0 {
		return ErrHeaders
	}
	// The signature is checked first: to whoever cannot sign, an old timestamp and a
	// new one look alike.
	if !signedByAny(id, timestamp, body, signatures, secrets) {
		return ErrSignature
	}
	now := time.Now()
	at := time.Unix(seconds, 0)
	if at.Before(now.Add(-tolerance)) || at.After(now.Add(tolerance)) {
		return ErrTimestamp
	}
	return nil
}

func signedByAny(id, timestamp string, body []byte, signatures []string, secrets []Secret) bool {
	candidates := make([][]byte, 0, len(signatures))
	for _, signature := range signatures {
		version, encoded, _ := strings.Cut(signature, ",")
		if version != signatureVersion {
			continue
		}
		if mac, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			candidates = append(candidates, mac)
		}
	}
	return len(candidates) > 0 && slices.ContainsFunc(secrets, func(secret Secret) bool {
		if secret.IsZero() {
			return false
		}
		want := secret.mac(id, timestamp, body)
		return slices.ContainsFunc(candidates, func(mac []byte) bool { return hmac.Equal(mac, want) })
	})
}
