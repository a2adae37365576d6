// Package authoring turns records into the parameters of the insert statements, in
// a form that every driver sends alike.
package authoring

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/postgres/internal/literal"
)

// NilTx is the error for a nil transaction.
func NilTx() error { return fault.NewInvalid("transaction", "is nil") }

// NotMade is the error of a writer or recorder that is nil or the zero value of its type.
func NotMade(field string) error { return fault.NewInvalid(field, "was not made by its constructor") }

// One returns the parameters of insert_one.sql.
func One(r *outbox.Record) []any {
	payload, raw := body(r)
	return []any{
		r.MessageID.String(), orNil(r.AggregateType), orNil(r.AggregateID), r.EventType, r.Destination, string(r.DestinationType),
		payload, raw, orNil(r.ContentType), orNil(string(r.Headers)), metadata(r), int32(r.MaxAttempts),
		orNil(literal.Time(r.AvailableAt)), orNil(literal.Time(r.ScheduledAt)),
	}
}

// Many returns the parameters of insert.sql.
func Many(records []outbox.Record) []any {
	const columns = 14
	var c [columns]literal.Text
	for i := range records {
		r := &records[i]
		for k, v := range One(r) {
			switch v := v.(type) {
			case string:
				c[k].Add(v)
			case int32:
				c[k].AddInt(int(v))
			default:
				c[k].Null()
			}
		}
	}
	args := make([]any, columns)
	for k := range c {
		args[k] = c[k].String()
	}
	return args
}

// IDs checks the ids that came back and puts them in the order of the records.
func IDs(ids []outbox.ID, records int) ([]outbox.ID, error) {
	if len(ids) != records {
		return nil, &fault.Persistence{Op: "outbox.publish", Err: fmt.Errorf("the server returned %d ids for %d entries", len(ids), records)}
	}
	slices.Sort(ids)
	return ids, nil
}

func body(r *outbox.Record) (payload, raw any) {
	if r.Raw() {
		return nil, hex.EncodeToString(r.Payload)
	}
	return string(r.Payload), nil
}

func metadata(r *outbox.Record) any {
	if len(r.Metadata) == 0 {
		return "{}"
	}
	return string(r.Metadata)
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
