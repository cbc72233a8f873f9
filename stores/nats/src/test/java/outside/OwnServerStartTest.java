package outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.JvmProcess;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server of a test that does not come up. */
class OwnServerStartTest {
  static final class Sleeper extends ServerProcess {
    Sleeper(Path folder, List<String> command) {
      super(
          "sleeper",
          0,
          folder,
          command,
          () -> {
            throw new IllegalArgumentException("an answer that cannot be read");
          });
    }

    /** Serves at once. */
    Sleeper(Path folder) {
      super("sleeper", 0, folder, List.of("sh", "-c", "exec sleep 12346"), () -> true);
    }

    /** Waits to be killed, with a server. */
    public static void main(String[] arguments) throws IOException {
      try (Sleeper serving = new Sleeper(Path.of(arguments[0]))) {
        System.out.println(serving.url());
        // Ends with the JVM that has started this one.
        System.in.transferTo(System.out);
      }
    }

    static String commandLine(ProcessHandle process) {
      return process.info().commandLine().orElse("");
    }

    @Override
    public String url() {
      return "sleeper://";
    }
  }

  @Test
  void givenJvmThatIsKilled_thenItsServerEnds_andTheFolderIsGone(@TempDir Path parent)
      throws IOException {
    Path folder = Files.createDirectory(parent.resolve("a folder"));
    try (JvmProcess killed = JvmProcess.start(Sleeper.class, folder.toString())) {
      assertThat(killed.line()).isEqualTo("sleeper://");
      assertThat(folder).isNotEmptyDirectory();
    }
    BoundedWait.until(BoundedWait.ANSWER, "the folder is gone", () -> Files.notExists(folder));
    assertThat(ProcessHandle.allProcesses().map(Sleeper::commandLine))
        .noneMatch(line -> line.endsWith("sleep 12346"));
  }

  @Test
  void givenProbeThatFails_thenItsProcessEnds(@TempDir Path parent) throws IOException {
    Path folder = Files.createDirectory(parent.resolve("own"));
    List<String> command = List.of("sh", "-c", "exec sleep 12345");
    assertThatThrownBy(() -> new Sleeper(folder, command))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(ProcessHandle.current().children().map(Sleeper::commandLine))
        .noneMatch(line -> line.contains("12345"));
  }
}
