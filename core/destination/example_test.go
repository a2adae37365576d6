package destination_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core/destination"
)

// SMS is a type of an application's own: any well-formed identifier is one.
const SMS destination.Type = "SMS"

func ExampleType() {
	fmt.Println(SMS, SMS.Validate() == nil, destination.Kafka, destination.Kafka.Validate() == nil)
	// Output: SMS true KAFKA true
}

// A type that comes from outside the program, for example from a file, is checked.
func ExampleParseType() {
	for _, text := range []string{"DELAYED_JOB", "delayed job", ""} {
		t, err := destination.ParseType(text)
		fmt.Println(t == destination.DelayedJob, err)
	}
	// Output:
	// true <nil>
	// false satchel: destination type has a character other than A-Z, a-z, 0-9, '_' and '-'
	// false satchel: destination type is empty
}
