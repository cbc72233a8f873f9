import io.mortise.Lease;
import io.mortise.LockClient;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * The load of a rolling upgrade: takes one lock again and again, until a file tells it to end.
 * Another file, which only one process can create, tells whether two are inside.
 */
class UpgradeLoad {
  /** Arguments: the folder of the notes, the name of this process, the URL of the store, the lock. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path core = Path.of(LockClient.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    String turn = "turn " + arguments[1] + " " + core.getFileName() + " ";
    try (LockClient locks = LockClient.connect(arguments[2])) {
      while (!Files.exists(folder.resolve("end-" + arguments[1]))) {
        try (Lease lease = locks.lock(arguments[3]).acquireWithin(Duration.ofSeconds(20))) {
          work(folder, turn + lease.token());
        }
      }
    }
  }

  /** Takes five milliseconds. */
  private static void work(Path folder, String turn) throws IOException, InterruptedException {
    Path inside = folder.resolve("inside");
    try {
      Files.createFile(inside);
    } catch (FileAlreadyExistsException e) {
      note(folder, "overlap, " + turn);
      return;
    }
    Thread.sleep(5);
    note(folder, turn);
    Files.delete(inside);
  }

  private static void note(Path folder, String line) throws IOException {
    Files.writeString(
        folder.resolve("notes"), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
