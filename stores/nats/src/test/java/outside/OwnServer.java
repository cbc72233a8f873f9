package outside;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A server as the author of a store outside of Mortise starts it: a program of the PATH. */
final class OwnServer extends ServerProcess {
  private OwnServer(int port, Path folder, List<String> command) {
    super("own server", port, folder, command, () -> greets(port));
  }

  static OwnServer start() {
    Path program = TestPrerequisites.required(find("nats-server"), "The program nats-server");
    int port = freePort();
    try {
      Path folder = Files.createTempDirectory("own-server");
      String data = folder.resolve("data").toString();
      return new OwnServer(
          port,
          folder,
          List.of(program + "", "-js", "-a", "127.0.0.1", "-p", port + "", "-sd", data));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean greets(int port) throws IOException {
    try (Socket socket = connect(port)) {
      return socket.getInputStream().read() == 'I';
    }
  }

  @Override
  public String url() {
    return "nats://127.0.0.1:" + port();
  }
}
