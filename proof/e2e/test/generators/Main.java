// Calls a server with the Java client of openapi-generator: info, a stream, a cut-out, an error.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ImagesApi;
import org.openapitools.client.api.VideosApi;
import org.openapitools.client.model.Problem;

public class Main {
  static String start(File file, int from, int to) throws IOException {
    try (FileInputStream stream = new FileInputStream(file)) {
      return new String(stream.readNBytes(to), from, to - from, "ISO-8859-1");
    } finally {
      file.delete();
    }
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    URI page = URI.create(args[1]);
    VideosApi videos = new VideosApi(client);

    System.out.println(videos.getInfo(page, null, null, null, null).getTitle());
    System.out.println(
        start(
            videos.streamAudio(
                page, null, null, null, null, null, null, null, null, null, null, null, null, null),
            0,
            3));
    File cutOut =
        new ImagesApi(client)
            .removeBackground(
                new File(args[2]), null, new BigDecimal("1.5"), null, "webp", null, null, true, null, null, null, null);
    System.out.println(start(cutOut, 8, 12));
    try {
      videos.getInfo(URI.create("ftp://nowhere"), null, null, null, null);
    } catch (ApiException error) {
      System.out.println(new ObjectMapper().readValue(error.getResponseBody(), Problem.class).getCode());
    }
    System.exit(0);
  }
}
