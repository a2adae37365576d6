package pgserver_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/servers/pgserver"
)

func Example() {
	ctx := context.Background()
	server, err := pgserver.Find(ctx, pgserver.Options{
		Ephemeral: true,
		Settings:  map[string]string{"application_name": "demo"},
		Private:   true, // the setting has no effect on a given server
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Stop(ctx) }()

	conn, err := pgx.Connect(ctx, server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	var name string
	if err := conn.QueryRow(ctx, "SHOW application_name").Scan(&name); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(server.Kind, name)
	// Output: postgres demo
}
