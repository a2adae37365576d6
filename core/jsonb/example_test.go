package jsonb_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core/jsonb"
)

// Not every JSON document can be stored as JSONB.
func ExampleCheck() {
	for _, doc := range []string{
		`{"id":9007199254740993}`,
		`{"name":"a\u0000b"}`,
		`{"name":"\ud800"}`,
		`1e200000`,
		`{"id":`,
	} {
		fmt.Printf("%q\n", jsonb.Check([]byte(doc)))
	}
	// Output:
	// ""
	// "has the character U+0000, which cannot be stored"
	// "has an unpaired surrogate, which cannot be stored"
	// "has a number out of range"
	// "is not valid JSON"
}
