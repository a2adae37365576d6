package config

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
)

// Days is a retention: 1 to 36,500 days of 24 hours, or [Forever].
type Days int

// Forever keeps rows for good. In the file it is the text "FOREVER".
const Forever Days = math.MaxInt32

const (
	foreverText = "FOREVER"
	maxDays     = Days(maintenance.MaxRetention / maintenance.Day)
)

// Duration returns d as maintenance understands it.
func (d Days) Duration() time.Duration {
	if d == Forever {
		return maintenance.Forever
	}
	return time.Duration(d) * maintenance.Day
}

// MarshalJSON writes what [Parse] reads.
func (d Days) MarshalJSON() ([]byte, error) {
	if d == Forever {
		return json.Marshal(foreverText)
	}
	return json.Marshal(int(d))
}

// UnmarshalJSON reads what [Days.MarshalJSON] writes, as strictly as [Parse]: an error is a
// *fault.Invalid, and d then stays as it was.
func (d *Days) UnmarshalJSON(doc []byte) error {
	v, problems := decode(doc)
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if reason := (retention{func(*Tree) *Days { return d }}).set(nil, v); reason != "" {
		return fault.NewInvalid("retention days", reason)
	}
	return nil
}

var _ json.Unmarshaler = (*Days)(nil)
