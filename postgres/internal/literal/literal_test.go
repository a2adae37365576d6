package literal

import (
	"testing"
	"time"
)

func TestText(t *testing.T) {
	t.Parallel()
	var list Text
	if got := list.String(); got != "{}" {
		t.Errorf("empty list is %s", got)
	}
	for _, s := range []string{"plain", "", `back\slash`, `quo"te`, "NULL", "a,b", "{x}", "line\nbreak", " ", "漢"} {
		list.Add(s)
	}
	list.Null()
	list.AddOrNull("")
	list.AddOrNull("x")
	list.AddInt(-5)
	const want = `{"plain","","back\\slash","quo\"te","NULL","a,b","{x}","line` + "\n" + `break"," ","漢",NULL,NULL,"x",-5}`
	if got := list.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("somewhere", -5*3600)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, ""},
		{time.Date(2024, 2, 29, 23, 30, 0, 0, zone), "2024-03-01T04:30:00.000000Z"},
		{time.Date(2024, 1, 1, 0, 0, 0, 1, time.UTC), "2024-01-01T00:00:00.000001Z"}, // never earlier than given
		{time.Date(2024, 1, 1, 0, 0, 0, 1000, time.UTC), "2024-01-01T00:00:00.000001Z"},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), "9999-12-31T23:59:59.000000Z"},
	} {
		if got := Time(c.at); got != c.want {
			t.Errorf("%v is written %q, want %q", c.at, got, c.want)
		}
	}
	var list Text
	list.AddTime(time.Time{})
	list.AddTime(time.Unix(0, 0))
	if got := list.String(); got != `{NULL,"1970-01-01T00:00:00.000000Z"}` {
		t.Errorf("list of times is %s", got)
	}
}
