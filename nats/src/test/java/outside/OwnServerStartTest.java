package outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server of a test that does not come up. */
class OwnServerStartTest {
  private static final class Sleeper extends ServerProcess {
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

    static String commandLine(ProcessHandle process) {
      return process.info().commandLine().orElse("");
    }

    @Override
    public String url() {
      return "sleeper://";
    }
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
