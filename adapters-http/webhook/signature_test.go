package webhook

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const vectorID = "msg_p5jXN8AQM9LWM0D4loKWxJek"

var vectorBody = []byte(`{"test": 2432232314}`)

// The vector that the libraries of the Standard Webhooks scheme share.
func TestSignVector(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	sign(header, vectorID, time.Unix(1614265330, 0), vectorBody, []Secret{mustSecret(t, secretPrefix+vectorKey)})
	for name, want := range map[string]string{
		"webhook-id":        vectorID,
		"webhook-timestamp": "1614265330",
		"webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	const other = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
	secret, old := mustSecret(t, vectorKey), NewSecret()
	set := func(name, value string) func(http.Header) { return func(h http.Header) { h.Set(name, value) } }
	del := func(name string) func(http.Header) { return func(h http.Header) { h.Del(name) } }
	resign := func(secrets ...Secret) func(http.Header) {
		return func(h http.Header) { sign(h, vectorID, time.Now(), vectorBody, secrets) }
	}
	for name, c := range map[string]struct {
		change  func(http.Header)
		secrets []Secret
		body    string
		want    error
	}{
		"valid":                  {},
		"one of several":         {secrets: []Secret{old, secret}},
		"both rotate":            {change: resign(old, secret), secrets: []Secret{NewSecret(), secret}},
		"zero secret beside":     {secrets: []Secret{{}, secret}},
		"unknown versions":       {change: func(h http.Header) { h.Set(HeaderSignature, "v2,x v1a,y "+other+" "+h.Get(HeaderSignature)) }},
		"no id":                  {change: del(HeaderID), want: ErrHeaders},
		"no timestamp":           {change: del(HeaderTimestamp), want: ErrHeaders},
		"no signature":           {change: del(HeaderSignature), want: ErrHeaders},
		"blank signature":        {change: set(HeaderSignature, "  "), want: ErrHeaders},
		"timestamp not a number": {change: set(HeaderTimestamp, "now"), want: ErrHeaders},
		"timestamp too large":    {change: set(HeaderTimestamp, "99999999999999999999"), want: ErrHeaders},
		"id with a dot":          {change: set(HeaderID, "msg.1"), want: ErrHeaders},
		"other id":               {change: set(HeaderID, "msg_other"), want: ErrSignature},
		"other body":             {body: `{"test": 2432232315}`, want: ErrSignature},
		"other timestamp": {change: func(h http.Header) {
			h.Set(HeaderTimestamp, strconv.FormatInt(time.Now().Unix()+1, 10))
		}, want: ErrSignature},
		"other signature":   {change: set(HeaderSignature, other), want: ErrSignature},
		"empty signature":   {change: set(HeaderSignature, "v1,"), want: ErrSignature},
		"version only":      {change: set(HeaderSignature, "v1"), want: ErrSignature},
		"not base64":        {change: set(HeaderSignature, "v1,%%%"), want: ErrSignature},
		"other version":     {change: func(h http.Header) { h.Set(HeaderSignature, "v2"+h.Get(HeaderSignature)[2:]) }, want: ErrSignature},
		"other secret":      {secrets: []Secret{old}, want: ErrSignature},
		"no secrets":        {secrets: []Secret{}, want: ErrSignature},
		"zero secret alone": {secrets: []Secret{{}}, want: ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			resign(secret)(header)
			if c.change != nil {
				c.change(header)
			}
			if c.secrets == nil {
				c.secrets = []Secret{secret}
			}
			if c.body == "" {
				c.body = string(vectorBody)
			}
			if err := Verify(header, []byte(c.body), c.secrets, 0); !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}

// Time stands still in the bubble, so the bounds are exact.
func TestVerifyTolerance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		secret := NewSecret()
		for _, c := range []struct {
			offset, tolerance time.Duration
			want              error
		}{
			{0, time.Second, nil},
			{-DefaultTolerance, 0, nil},
			{DefaultTolerance, 0, nil},
			{-DefaultTolerance - time.Second, 0, ErrTimestamp},
			{DefaultTolerance + time.Second, 0, ErrTimestamp},
			{-MaxTolerance - time.Second, 24 * time.Hour, ErrTimestamp},
			{-MaxTolerance, 24 * time.Hour, nil},
			{-time.Second, time.Second, nil},
			{-2 * time.Second, time.Second, ErrTimestamp},
			{2 * time.Second, time.Second, ErrTimestamp},
			{-time.Hour, 2 * time.Hour, nil},
			{-time.Hour, -1, ErrTimestamp},
		} {
			header := http.Header{}
			sign(header, vectorID, time.Now().Add(c.offset), vectorBody, []Secret{secret})
			if err := Verify(header, vectorBody, []Secret{secret}, c.tolerance); !errors.Is(err, c.want) {
				t.Errorf("offset %v, tolerance %v: got %v, want %v", c.offset, c.tolerance, err, c.want)
			}
		}
	})
}

func FuzzVerify(f *testing.F) {
	secret := NewSecret()
	f.Add("msg", "1614265330", "v1,AAAA", []byte("body"))
	f.Add("", "", "", []byte(nil))
	f.Add("a.b", "-1", "v1 , v1,,", []byte("{}"))
	f.Fuzz(func(t *testing.T, id, timestamp, signature string, body []byte) {
		header := http.Header{HeaderID: {id}, HeaderTimestamp: {timestamp}, HeaderSignature: {signature}}
		if err := Verify(header, body, []Secret{secret}, time.Hour); err == nil {
			t.Fatalf("a forged signature was accepted: %q", signature)
		}
		sign(header, strings.ReplaceAll(id, ".", "_")+"x", time.Now(), body, []Secret{secret})
		if err := Verify(header, body, []Secret{secret}, time.Hour); err != nil {
			t.Fatalf("an own signature was refused: %v", err)
		}
	})
}
