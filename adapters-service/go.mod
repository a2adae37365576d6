module github.com/satchel-go/satchel/adapters-service

go 1.26.0

require github.com/satchel-go/satchel/core v0.0.0

replace github.com/satchel-go/satchel/core => ../core
