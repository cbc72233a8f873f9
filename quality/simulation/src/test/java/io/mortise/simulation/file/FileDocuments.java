package io.mortise.simulation.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Documents in a folder, for the processes of one host. Neither moving nor creating a file compares
 * a version, so each step holds a file lock: the system grants it to one process at a time, and
 * revokes it when a process dies. A process opens a folder once, as its own file locks do not
 * exclude each other.
 *
 * <p>A process paused in a step blocks all others; their requests fail, and are executed when it
 * resumes. A power cut may leave a document empty, since none is forced to disk.
 */
final class FileDocuments implements VersionedDocuments {
  private final Path folder;
  private final Duration timeout;

  /** Two numbers: the latest version, and the one at which a document was removed last. */
  private final FileChannel versions;

  private final ExecutorService thread = Executors.newSingleThreadExecutor();

  FileDocuments(Path folder, Duration timeout) throws IOException {
    this.folder = folder;
    this.timeout = timeout;
    this.versions =
        FileChannel.open(
            Files.createDirectories(folder).resolve("versions"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
  }

  /** Opens a store of locks in a folder. */
  static LockStore open(Path folder, Duration timeout, Ticker ticker, InstantSource wallClock) {
    try {
      FileDocuments documents = new FileDocuments(folder, timeout);
      StoreProfile profile =
          new StoreProfile(
              folder.toString(),
              DocumentStore.CAPABILITIES_WITHOUT_CLOCK,
              timeout,
              Duration.ofMillis(500),
              Duration.ofMillis(10));
      return DocumentStore.clockless(profile, documents, documents, ticker, wallClock);
    } catch (IOException e) {
      throw new StoreUnavailableException("Folder '" + folder + "' cannot be opened.", e);
    }
  }

  /** Runs a step exclusively among processes. */
  @SuppressWarnings("try") // the lock is held, and not used
  private <T> CompletionStage<T> locked(Callable<T> step) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    thread.execute(
        () -> {
          T result;
          try (FileLock lock = versions.lock()) {
            result = step.call();
          } catch (Exception | Error e) {
            answer.completeExceptionally(e);
            return;
          }
          answer.complete(result);
        });
    return answer
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            failure ->
                CompletableFuture.failedFuture(
                    new StoreUnavailableException(
                        "Folder '" + folder + "' did not answer.", failure)));
  }

  private long number(int index) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES);
    versions.read(bytes, (long) index * Long.BYTES);
    return bytes.getLong(0);
  }

  private void number(int index, long value) throws IOException {
    versions.write(ByteBuffer.allocate(Long.BYTES).putLong(0, value), (long) index * Long.BYTES);
  }

  /** Keys may be longer than file names can be. */
  private Path file(String key) throws Exception {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(UTF_8));
    return folder.resolve("document-" + HexFormat.of().formatHex(digest));
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    return locked(() -> stands(key));
  }

  private VersionedText stands(String key) throws Exception {
    if (!Files.exists(file(key))) {
      return new VersionedText(null, Long.toString(number(0)));
    }
    String[] parts = Files.readString(file(key)).split("\n", 3);
    return new VersionedText(parts[2], parts[1]);
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    return locked(
        () -> {
          VersionedText before = stands(key);
          boolean made =
              found.text() == null
                  ? before.text() == null && Long.parseLong(found.version()) >= number(1)
                  : before.text() != null && found.version().equals(before.version());
          if (made) {
            write(key, text);
          }
          return new Written(made, stands(key));
        });
  }

  private void write(String key, @Nullable String text) throws Exception {
    long version = number(0) + 1;
    number(0, version);
    if (text == null) {
      number(1, version);
      Files.delete(file(key));
    } else {
      Path whole = folder.resolve("new");
      Files.writeString(whole, key + "\n" + version + "\n" + text);
      Files.move(whole, file(key), StandardCopyOption.ATOMIC_MOVE);
    }
  }

  @Override
  public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
    return locked(
        () -> {
          List<String> keys = new ArrayList<>();
          try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(FileDocuments::isDocument).toList()) {
              keys.add(Files.readAllLines(file).get(0));
            }
          }
          return keys.stream()
              .filter(key -> key.startsWith(prefix) && key.compareTo(after) > 0)
              .sorted()
              .limit(limit)
              .toList();
        });
  }

  private static boolean isDocument(Path file) {
    return file.getFileName().toString().startsWith("document-");
  }

  @Override
  public void close() {
    thread.shutdown();
    try {
      versions.close();
    } catch (IOException e) {
      throw new StoreUnavailableException("Folder '" + folder + "' cannot be closed.", e);
    }
  }
}
