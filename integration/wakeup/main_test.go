package wakeup

import (
	"testing"

	"github.com/satchel-go/satchel/integration/internal/lab"
)

func TestMain(m *testing.M) { lab.Main(m, nil) }
