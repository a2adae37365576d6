package config

import (
	"encoding/json"
	"math"
	"time"

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
