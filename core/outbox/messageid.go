package outbox

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/satchel-go/satchel/core/fault"
)

// ID is the number of an entry in its table. Ids of one aggregate give its order.
// Gaps are normal: a rolled-back transaction leaves one.
type ID int64

// MessageID identifies a message to the outside: every destination sees it, and it
// is the same on every attempt, so a consumer can recognise a duplicate. It is a
// UUID of version 7, made before the insert and never from the caller's input.
type MessageID [16]byte

// NewMessageID returns a fresh id. Ids made later sort later, to the millisecond.
func NewMessageID() MessageID {
	var id MessageID
	_, _ = rand.Read(id[6:]) // documented to never fail
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

// String returns the id in the usual form of 36 characters.
func (id MessageID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], id[0:4])
	hex.Encode(b[9:13], id[4:6])
	hex.Encode(b[14:18], id[6:8])
	hex.Encode(b[19:23], id[8:10])
	hex.Encode(b[24:36], id[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// ParseMessageID reads the form that String writes, in either case; the version does
// not matter. An error is a *fault.Invalid.
func ParseMessageID(s string) (MessageID, error) {
	bad := fault.NewInvalid("message id", "is not a UUID of 36 characters")
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return MessageID{}, bad
	}
	var id MessageID
	compact := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(id[:], []byte(compact)); err != nil {
		return MessageID{}, bad
	}
	return id, nil
}

// MarshalText implements encoding.TextMarshaler.
func (id MessageID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler, with the errors of [ParseMessageID].
func (id *MessageID) UnmarshalText(text []byte) error {
	parsed, err := ParseMessageID(string(text))
	if err == nil {
		*id = parsed
	}
	return err
}
