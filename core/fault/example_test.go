package fault_test

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/fault"
)

// What a caller does after an error depends on its kind only.
func Example() {
	decide := func(err error) string {
		switch {
		case fault.IsInvalid(err):
			return "fix the program; the transaction can go on"
		case fault.Retryable(err):
			return "roll back, then run the whole transaction again"
		case err != nil:
			return "roll back"
		}
		return "commit"
	}
	deadlock := &fault.Persistence{Op: "outbox.publish", Code: "40P01", Transient: true, Err: errors.New("deadlock detected")}

	fmt.Println(decide(fault.NewInvalid("payload", "is nil")))
	fmt.Println(decide(fmt.Errorf("confirm order: %w", deadlock)))
	fmt.Println(decide(errors.New("disk full")))
	fmt.Println(decide(nil))
	// Output:
	// fix the program; the transaction can go on
	// roll back, then run the whole transaction again
	// roll back
	// commit
}

// The field says what was refused; the text is safe for a log.
func ExampleInvalid() {
	err := fmt.Errorf("entry 3: %w", fault.NewInvalid("destination", "is longer than 255 characters"))

	var invalid *fault.Invalid
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Field)
	}
	fmt.Println(err)
	// Output:
	// destination
	// entry 3: satchel: destination is longer than 255 characters
}

// The server's code and the driver's error stay visible.
func ExamplePersistence() {
	driver := errors.New("duplicate key value")
	err := error(&fault.Persistence{Op: "inbox.record", Code: "23505", Err: driver})

	var p *fault.Persistence
	fmt.Println(errors.As(err, &p), p.Code, errors.Is(err, driver), fault.Retryable(err))
	fmt.Println(err)
	// Output:
	// true 23505 true false
	// satchel: inbox.record failed (SQLSTATE 23505): duplicate key value
}

// Any error that has a method Retryable is asked; one that has none is not retryable.
func ExampleRetryable() {
	fmt.Println(fault.Retryable(busy{}), fault.Retryable(errors.New("broken")), fault.Retryable(nil))
	// Output: true false false
}

type busy struct{}

func (busy) Error() string   { return "busy" }
func (busy) Retryable() bool { return true }

// Text makes something that a column and a log can hold of whatever an error says.
func ExampleText() {
	fmt.Println(fault.Text(errors.New("refused:\x00 line 1\nline 2\xff")))
	// Output: refused:_ line 1_line 2�
}

func ExampleClean() {
	fmt.Println(fault.Clean("tenant\r\nname", 8))
	// Output: tenant__
}
