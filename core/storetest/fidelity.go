package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var fidelityChecks = []check{
	{"JSON payloads keep their values", nothing, jsonPayloads},
	{"JSON that cannot be stored is refused", nothing, jsonRefused},
	{"raw payloads keep their bytes", nothing, rawPayloads},
	{"headers come back as they were", nothing, headersKept},
	{"metadata keeps its numbers", nothing, metadataKept},
	{"every attempt sees the same bytes", nothing, stableAcrossAttempts},
}

// documents are JSON documents that every store has to take.
var documents = []string{
	`null`, `true`, `""`, `{}`, `[]`, `0`, `[null]`, `{"a":null}`,
	`9007199254740993`, `1499366092322157987`, `18446744073709551615`, `-9223372036854775808`,
	`12345678901234567890.123`, `0.1`, `-0`, `1e3`, `1E-7`, `1e400`, `-2.5e+10`, `1.10`,
	`0.000000000000000000000000000000000001`,
	`1e131071`, `1e-16383`, strings.Repeat("7", 131072), `0.` + strings.Repeat("7", 16383),
	`{"a":"\\u0000"}`, `{"a":"\\\\u0000"}`, `"\ud83d\ude00"`, `"😀 é ü ß 漢字 \u202e"`,
	`"\"\\\/\b\f\n\r\t"`, `"` + "\u007f\u0080\ufeff\uffff" + `"`, `{"":1}`, `{"a b":{"c.d":[1,[2,[3]]]}}`,
	`{"b":1, "a":2,"a":3}`, " { \"white\" :\n[ 1 ,\t2 ] } ",
	`"` + strings.Repeat("x", 1<<20) + `"`,
	strings.Repeat("[", 500) + strings.Repeat("]", 500),
	`"'; DROP TABLE outbox; --"`, `"{a,b}"`, `"\\x00"`, `"$1 %s ?"`,
}

func jsonPayloads(e *env) {
	list := make([]outbox.Entry, len(documents))
	for i, doc := range documents {
		list[i] = with(entry(""), func(x *outbox.Entry) { x.Payload = json.RawMessage(doc) })
	}
	published := e.publish(list...)
	rows := e.rows()
	claimed := map[outbox.ID]held{}
	for _, h := range e.take(e.session("one"), len(published)) {
		claimed[h.ID] = h
	}
	for i, id := range published {
		want := []byte(documents[i])
		for where, r := range map[string]outbox.Record{"stored": rows[id].Record, "claimed": claimed[id].Record} {
			if !sameJSON(r.Payload, want) {
				e.Errorf("%s payload is %.80q, want %.80q", where, r.Payload, want)
			}
			e.equal(where+" content type", r.ContentType, "")
		}
	}
}

func jsonRefused(e *env) {
	e.inTx(func(tx Tx) {
		for _, doc := range []string{
			`{"a":"\u0000"}`, `{"a":"\ud800"}`, `{"a":"\udc00"}`, `{"a":"\ud800\ud800"}`, `{"\u0000":1}`,
			"\"\x00\"", "\"\xff\"", ``, `{`, `{} {}`, `nul`, `1e131072`, `1e-16384`, `NaN`,
			strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
		} {
			bad := with(entry(""), func(x *outbox.Entry) { x.Payload = json.RawMessage(doc) })
			if got, err := tx.PublishAll(e.ctx, bad); !fault.IsInvalid(err) || got != nil {
				e.Errorf("publish of %.40q returned %v, %v; want a *fault.Invalid", doc, got, err)
			}
		}
		var typed *struct{ A int }
		for _, payload := range []any{nil, typed, func() {}, []byte("{}"), outbox.Raw{Data: []byte("x")}} {
			bad := with(entry(""), func(x *outbox.Entry) { x.Payload = payload })
			if _, err := tx.PublishAll(e.ctx, bad); !fault.IsInvalid(err) {
				e.Errorf("publish of a %T returned %v; want a *fault.Invalid", payload, err)
			}
		}
		e.publishIn(tx, entry("")) // the transaction is still usable
	})
	e.equal("rows", len(e.rows()), 1)
}

func rawPayloads(e *env) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, data := range [][]byte{
		nil, {}, {0}, all, []byte("\xff\xfe"), []byte(`{"b":1, "a":2,"a":3}`), []byte(`\x41`), bytes.Repeat(all, 4096),
	} {
		id := e.publish(with(entry(""), func(x *outbox.Entry) {
			x.Payload = outbox.Raw{ContentType: "application/x-protobuf; v=\"1\"", Data: data}
		}))[0]
		s := e.session("one")
		h := e.take(s, 1)[0]
		e.equal("claimed", h.ID, id)
		for where, r := range map[string]outbox.Record{"stored": e.row(id).Record, "claimed": h.Record} {
			if !bytes.Equal(r.Payload, data) {
				e.Errorf("%s payload has %d bytes, want the %d given", where, len(r.Payload), len(data))
			}
			e.equal(where+" content type", r.ContentType, `application/x-protobuf; v="1"`)
			e.equal(where+" is raw", r.Raw(), true)
		}
		e.deliver(s, h)
	}
}

func headersKept(e *env) {
	many := map[string]string{}
	for i := range outbox.MaxHeaders {
		many[fmt.Sprintf("key-%d", i)] = fmt.Sprint(i)
	}
	for _, want := range []map[string]string{
		nil,
		{"plain": "value", "empty": "", "text null": "null"},
		{"Ünï cödé 😀": "漢字 \u202e", "quote\"back\\slash": `"\u0041 \\ '; --`},
		{"control": "a\tb\r\nc\x7f", strings.Repeat("ж", 255): strings.Repeat("v", outbox.MaxHeaderValue)},
		many,
	} {
		id := e.publish(with(entry(""), func(x *outbox.Entry) { x.Headers = want }))[0]
		s := e.session("one")
		h := e.take(s, 1)[0]
		for where, r := range map[string]outbox.Record{"stored": e.row(id).Record, "claimed": h.Record} {
			got, dropped, err := outbox.DecodeHeaders(r.Headers)
			e.must(err, where+" headers")
			if len(got) != len(want) || len(dropped) > 0 {
				e.Errorf("%s headers are %d, want %d; dropped %v", where, len(got), len(want), dropped)
			}
			for key, value := range want {
				if got[key] != value {
					e.Errorf("%s header %q is %.60q, want %.60q", where, key, got[key], value)
				}
			}
		}
		e.deliver(s, h)
	}
}

func metadataKept(e *env) {
	control := map[string]json.RawMessage{
		"delayedjob": json.RawMessage(`{"priority":9007199254740993,"maxAttempts":3,"big":12345678901234567890.123,"s":"\\u0000"}`),
		"😀":          json.RawMessage(`null`),
	}
	id := e.publish(with(entry(""), func(x *outbox.Entry) { x.Delivery = control }))[0]
	h := e.take(e.session("one"), 1)[0]
	for where, r := range map[string]outbox.Record{"stored": e.row(id).Record, "claimed": h.Record} {
		m, err := outbox.DecodeMetadata(r.Metadata)
		e.must(err, where+" metadata")
		e.equal(where+" members", len(m.Delivery), len(control))
		for kind, want := range control {
			if !sameJSON(m.Delivery[kind], want) {
				e.Errorf("%s metadata %q is %s, want %s", where, kind, m.Delivery[kind], want)
			}
		}
	}
}

func stableAcrossAttempts(e *env) {
	e.publish(
		with(entry(""), func(x *outbox.Entry) {
			x.Payload = json.RawMessage(`{"b":1e3, "a":[1.50,"\u00e9"],"b":2}`)
			x.Headers = map[string]string{"z": "1", "a": "2"}
			x.Delivery = map[string]json.RawMessage{"k": json.RawMessage(`{"y":1,"x":2}`)}
		}),
		with(entry(""), func(x *outbox.Entry) {
			x.Payload = outbox.Raw{ContentType: "application/json", Data: []byte(`{"b":1, "a":2}`)}
		}),
	)
	s := e.session("one")
	seen := map[outbox.ID]outbox.Record{}
	for range 3 {
		for _, h := range e.take(s, 2) {
			before, again := seen[h.ID]
			if again && (h.MessageID != before.MessageID || !bytes.Equal(h.Payload, before.Payload) ||
				!bytes.Equal(h.Headers, before.Headers) || !bytes.Equal(h.Metadata, before.Metadata)) {
				e.Errorf("entry %d differs from its previous attempt", h.ID)
			}
			seen[h.ID] = h.Record
			e.settled(s, h.failed(relay.Retried, 0))
		}
	}
}
