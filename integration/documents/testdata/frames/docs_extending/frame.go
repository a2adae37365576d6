package textmessage

import (
	"context"
	"errors"

	"example.com/documents/docs_extending/sms"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

var _ delivery.Handler = (*Handler)(nil)

// block 1
