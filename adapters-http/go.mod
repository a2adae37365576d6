module github.com/satchel-go/satchel/adapters-http

go 1.26.0

require (
	github.com/satchel-go/satchel/core v0.0.0
	go.uber.org/goleak v1.3.0
)

replace github.com/satchel-go/satchel/core => ../core
