package propagation

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
)

// The namespaces of the codecs of this package.
const (
	// TraceParent holds a W3C trace context.
	TraceParent = "traceparent"
	// TraceState holds the W3C trace state that belongs to it.
	TraceState = "tracestate"
	// Baggage holds W3C baggage.
	Baggage = "baggage"
	// Correlation holds a correlation id.
	Correlation = "correlation"
	// Locale holds a BCP 47 language tag.
	Locale = "locale"
)

// Text is a [Codec] for context that has a text form. All fields are required: without
// Name the codec is left out of a [Set], and without Read or Write its context is dropped,
// in both cases with a warning.
type Text struct {
	// Name is the namespace: 1 to 64 characters from a-z, 0-9 and '-'.
	Name string
	// Read returns the text that ctx holds, "" for none.
	Read func(ctx context.Context) string
	// Write returns ctx with the text put back, or an error if it is malformed.
	Write func(ctx context.Context, text string) (context.Context, error)
}

// Namespace implements [Codec].
func (t Text) Namespace() string { return t.Name }

// Capture implements [Codec]: the text as a JSON string.
func (t Text) Capture(ctx context.Context) (json.RawMessage, bool) {
	text := t.Read(ctx)
	if text == "" {
		return nil, false
	}
	doc, err := json.Marshal(text)
	return doc, err == nil
}

// Restore implements [Codec]. What is not a JSON string is an error.
func (t Text) Restore(ctx context.Context, value json.RawMessage) (context.Context, error) {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return nil, err
	}
	return t.Write(ctx, text)
}

// key is the type of the context keys of this package; its value is the namespace.
type key string

// With returns ctx with the text of one of this package's namespaces set. It does not
// check the text: what is malformed is not captured by [Standard], without a warning.
func With(ctx context.Context, namespace, text string) context.Context {
	return context.WithValue(ctx, key(namespace), text)
}

// From returns the text that ctx holds for a namespace, "" for none.
func From(ctx context.Context, namespace string) string {
	text, _ := ctx.Value(key(namespace)).(string)
	return text
}

var errMalformed = errors.New("malformed")

var (
	traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	printable   = regexp.MustCompile(`^[\x20-\x7e]+$`)
	language    = regexp.MustCompile(`^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$`)
)

// Standard returns the codecs of this package: trace context, baggage, correlation
// id and locale, read with [From] and set with [With]. They know nothing of a
// tracing library; a library's own codec for the same namespace can replace one.
func Standard() []Codec {
	return []Codec{
		plain(TraceParent, traceparent),
		plain(TraceState, printable),
		plain(Baggage, printable),
		plain(Correlation, printable),
		plain(Locale, language),
	}
}

// plain is a codec for text that must match a form, in both directions.
func plain(namespace string, form *regexp.Regexp) Codec {
	return Text{
		Name: namespace,
		Read: func(ctx context.Context) string {
			if text := From(ctx, namespace); form.MatchString(text) {
				return text
			}
			return ""
		},
		Write: func(ctx context.Context, text string) (context.Context, error) {
			if !form.MatchString(text) {
				return nil, errMalformed
			}
			return With(ctx, namespace, text), nil
		},
	}
}
