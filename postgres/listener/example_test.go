package listener_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/satchel-go/satchel/postgres/listener"
)

// A relay is given the listener as its Waker and then subscribes by itself. The first hint
// comes with the connection: what was committed before was not heard.
func ExampleNew() {
	l, err := listener.New(os.Getenv("SATCHEL_DATABASE_URL"), listener.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	hints, unsubscribe := l.Subscribe()
	defer unsubscribe()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	ended := make(chan error)
	go func() { ended <- l.Run(ctx) }()
	<-hints
	fmt.Println("look at the table")

	cancel()
	fmt.Println("ended:", <-ended)
	// Output:
	// look at the table
	// ended: <nil>
}

// All problems are reported at once, and none repeats the DSN.
func ExampleNew_refused() {
	_, err := listener.New("", listener.Config{CheckEvery: time.Millisecond})
	fmt.Println(err)
	// Output:
	// satchel: listener checkEvery is not between 100ms and 1h0m0s
	// satchel: listener DSN is empty
}

// A health page can say why deliveries take a polling interval.
func ExampleListener_State() {
	l, err := listener.New("postgres://app@db.example/app", listener.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if s := l.State(); s != listener.Connected {
		fmt.Println("notifications are", s)
	}
	// Output: notifications are down
}
