package settings_test

import (
	"fmt"

	"github.com/satchel-go/satchel/wiring/settings"
)

func ExampleLoad() {
	tree, err := settings.Load(settings.Sources{
		Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BATCHSIZE=200", "SATCHEL__DB__SCHEMAS__INBOX_OUTBOX=messaging"},
	})
	fmt.Println(tree.Relay().BatchSize, tree.DB.Schemas.InboxOutbox, err)

	_, err = settings.Load(settings.Sources{Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BATCH_SIZE=200"}})
	fmt.Println(err)
	// Output:
	// 200 messaging <nil>
	// environment: satchel: inboxOutbox.relay.batch_size is not a known key; did you mean inboxOutbox.relay.batchSize?
}
