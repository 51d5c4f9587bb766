// Calls a server with the Go client of openapi-generator: info, a stream, a cut-out, an error.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	client "example.org/client"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func start(file *os.File, from, to int) string {
	defer os.Remove(file.Name())
	must(file.Seek(0, io.SeekStart))
	bytes := make([]byte, to)
	must(io.ReadFull(file, bytes))
	return string(bytes[from:to])
}

func main() {
	server, page, photo := os.Args[1], os.Args[2], os.Args[3]
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: server}}
	api := client.NewAPIClient(configuration)
	ctx := context.Background()

	info, _, err := api.VideosAPI.GetInfo(ctx).Url(page).Execute()
	fmt.Println(must(info, err).Title)

	audio, _, err := api.VideosAPI.StreamAudio(ctx).Url(page).Execute()
	fmt.Println(start(must(audio, err), 0, 3))

	image := must(os.Open(photo))
	cutout, _, err := api.ImagesAPI.RemoveBackground(ctx).File(image).Feather(1.5).Crop(true).Format("webp").Execute()
	fmt.Println(start(must(cutout, err), 8, 12))

	_, _, err = api.VideosAPI.GetInfo(ctx).Url("ftp://nowhere").Execute()
	var failure *client.GenericOpenAPIError
	if !errors.As(err, &failure) {
		panic(err)
	}
	var problem client.Problem
	if err := json.Unmarshal(failure.Body(), &problem); err != nil {
		panic(err)
	}
	fmt.Println(problem.Code)
}
