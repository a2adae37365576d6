// Package fault holds the error values that callers of satchel branch on.
//
// There are two kinds. [Invalid] means that a value was refused before anything
// was sent to a server: the caller's transaction is untouched and usable, and
// trying again with the same value is pointless. [Persistence] means that a store
// failed; its Retryable method says whether trying again can help.
//
//	switch _, err := publisher.Publish(ctx, tx, entry); {
//	case fault.IsInvalid(err):  // a mistake of the program: tx can still commit
//	case fault.Retryable(err):  // roll back, and run the whole transaction again
//	case err != nil:            // roll back
//	}
//
// # Guarantees
//
// Neither kind ever repeats a payload, a header value or a destination: the texts are
// safe for logs. Both work through wrapping and joining, with errors.Is and errors.As.
//
// # Not guaranteed
//
// That a driver keeps to this: the text of a Persistence ends with the driver's own.
// The errors of handlers are the application's affair as well; [Text] makes them fit to
// be stored, but cannot know what they quote.
package fault
