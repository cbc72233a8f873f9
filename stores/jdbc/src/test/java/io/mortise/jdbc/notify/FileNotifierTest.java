package io.mortise.jdbc.notify;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.LockProcess;
import io.mortise.jdbc.PowerLossDisks;
import io.mortise.jdbc.TempDirectory;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class FileNotifierTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final SessionId SESSION = SessionId.random(new Random());
  private static final String PRECIOUS = "precious";

  private Path directory;
  private Path precious;

  @BeforeEach
  void makeFiles() throws IOException {
    directory = TempDirectory.create();
    precious = directory.resolve("precious.txt");
    Files.writeString(precious, PRECIOUS);
    Files.createFile(database(), PosixFilePermissions.asFileAttribute(rights("rw-------")));
  }

  @AfterEach
  void removeFiles() {
    TempDirectory.delete(directory);
  }

  private Path database() {
    return directory.resolve("locks.db");
  }

  private Path folders() {
    return directory.resolve("locks.db.bells");
  }

  private static Set<PosixFilePermission> rights(String rights) {
    return PosixFilePermissions.fromString(rights);
  }

  private Path own(SessionId session) {
    return folders().resolve(session.value());
  }

  private static List<Path> filesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  private static boolean isWoken(FileNotifier fileNotifier) throws InterruptedException {
    return fileNotifier.await(Duration.ofSeconds(20));
  }

  @Test
  void givenListener_whenRungAgainAndAgain_thenItIsWokenEachTime() throws Exception {
    try (FileNotifier listener = new FileNotifier(database());
        FileNotifier other = new FileNotifier(database())) {
      listener.listen(SESSION);
      for (int i = 0; i < 5; i++) {
        other.signal(SESSION);
        other.signal(SESSION);
        assertThat(isWoken(listener)).isTrue();
      }
      listener.forget(SESSION);
      assertThat(own(SESSION)).doesNotExist();
    }
  }

  @Test
  void givenLinksInPlaceOfFiles_whenRung_thenWhatTheyLeadToIsUntouched() throws Exception {
    try (FileNotifier listener = new FileNotifier(database());
        FileNotifier other = new FileNotifier(database())) {
      listener.listen(SESSION);
      for (Path file : filesIn(own(SESSION))) {
        Files.delete(file);
        Files.createSymbolicLink(file, precious);
      }
      for (String name : List.of("ring", "bell", "alive")) {
        if (Files.notExists(own(SESSION).resolve(name), LinkOption.NOFOLLOW_LINKS)) {
          Files.createSymbolicLink(own(SESSION).resolve(name), precious);
        }
      }

      other.signal(SESSION);
      assertThat(other.hasProcessEnded(SESSION)).isFalse();
      listener.await(Duration.ofMillis(10));
      listener.forget(SESSION);

      assertThat(precious).hasContent(PRECIOUS);
    }
  }

  @Test
  void givenLinkInPlaceOfTheFolderOfASession_whenRung_thenNothingIsMadeBehindIt() throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Files.copy(precious, elsewhere.resolve("bell"));
    try (FileNotifier listener = new FileNotifier(database());
        FileNotifier other = new FileNotifier(database())) {
      listener.listen(SESSION);
      Files.move(own(SESSION), folders().resolve("moved"));
      Files.createSymbolicLink(own(SESSION), elsewhere);

      other.signal(SESSION);
      listener.forget(SESSION);

      assertThat(filesIn(elsewhere)).containsExactly(elsewhere.resolve("bell"));
      assertThat(elsewhere.resolve("bell")).hasContent(PRECIOUS);
    }
  }

  @Test
  void givenLinkInPlaceOfTheFolderOfAll_whenUsed_thenNothingIsMadeBehindIt_andWaitersAreServed()
      throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Files.createSymbolicLink(folders(), elsewhere);

    listens();
    assertThat(filesIn(elsewhere)).isEmpty();
    assertThatHandOffWorks();
  }

  @Test
  void givenFolderOfAnotherUser_whenUsed_thenNothingIsMadeInIt_andWaitersAreServed()
      throws Exception {
    Files.createDirectory(folders());
    Files.setOwner(folders(), nobody());

    listens();
    assertThat(filesIn(folders())).isEmpty();
    assertThatHandOffWorks();
  }

  /** Leaves what it makes. */
  private void listens() {
    try (FileNotifier listener = new FileNotifier(database())) {
      listener.listen(SESSION);
    }
  }

  @Test
  void givenFolderOfOneWhoSharesTheDatabase_whenUsed_thenItIsGoodEnough() throws Exception {
    Files.setPosixFilePermissions(database(), rights("rw-rw----"));
    Files.createDirectory(folders());
    Files.setOwner(folders(), nobody());
    try (FileNotifier listener = new FileNotifier(database());
        FileNotifier other = new FileNotifier(database())) {
      listener.listen(SESSION);
      other.signal(SESSION);
      assertThat(isWoken(listener)).isTrue();
    }
  }

  @Test
  void givenAnotherUserWhoMayWriteThere_whenHePutsLinks_thenAPrivateFileKeepsItsContent()
      throws Exception {
    UserPrincipal nobody = nobody();
    Files.setPosixFilePermissions(directory, rights("rwxr-xr-x"));
    Files.setPosixFilePermissions(precious, rights("rw-------"));
    Files.setPosixFilePermissions(database(), rights("rw-rw-rw-"));
    Files.createDirectory(folders());
    Files.setOwner(folders(), nobody);
    try (LockStore one = JdbcStore.open("jdbc:sqlite:" + database());
        LockStore two = JdbcStore.open("jdbc:sqlite:" + database())) {
      TestSession holder = new TestSession(one, TTL);
      TestSession waiter = new TestSession(two, TTL);
      AttemptId held = holder.attempt();
      holder.granted("a", held);
      assertThat(waiter.acquire("a", waiter.attempt())).isInstanceOf(Reply.Queued.class);

      asNobody(
          "cd "
              + folders()
              + " && for d in *; do mv $d was-$d && mkdir $d && for f in bell ring alive; do ln -s "
              + precious
              + " $d/$f; done; done");
      holder.abandon("a", held);

      assertThat(waiter.hints.poll(20, TimeUnit.SECONDS))
          .isInstanceOf(SessionNotification.HoldGranted.class);
    }
    assertThat(precious).hasContent(PRECIOUS);
  }

  @Test
  void givenRunningProcess_whenItIsKilled_thenOthersCanTell() throws Exception {
    String url = "jdbc:sqlite:" + database();
    try (FileNotifier fileNotifier = new FileNotifier(database());
        LockProcess child = LockProcess.start("hold", url, TTL)) {
      child.line();
      SessionId session = fileNotifier.listening().get(0);
      assertThat(fileNotifier.hasProcessEnded(session)).isFalse();

      child.kill();

      assertThat(fileNotifier.hasProcessEnded(session)).isTrue();
      fileNotifier.forget(session);
      assertThat(fileNotifier.hasProcessEnded(session)).as("when nobody knows").isFalse();
    }
  }

  @Test
  void givenSessionOfThisProcess_whenAskedAboutByAnother_thenItsLockStays() throws Exception {
    try (FileNotifier listener = new FileNotifier(database());
        FileNotifier other = new FileNotifier(database())) {
      listener.listen(SESSION);
      assertThat(other.hasProcessEnded(SESSION)).isFalse();
      assertThat(isLocked(own(SESSION).resolve("alive"))).isTrue();
    }
  }

  /** As two applications of one server have it that share the driver. */
  @Test
  void givenSessionOfThisProcess_whenAskedAboutByTheSameClassOfAnotherLoader_thenItsLockStays()
      throws Exception {
    ClassLoader apart =
        new ClassLoader(FileNotifier.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.mortise.jdbc.notify.FileNotifier")) {
              return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            if (known != null) {
              return known;
            }
            String file = name.replace('.', '/') + ".class";
            try (var in = Objects.requireNonNull(getParent().getResourceAsStream(file))) {
              byte[] code = in.readAllBytes();
              return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
              throw new ClassNotFoundException(name, e);
            }
          }
        };
    Class<?> otherCopy = apart.loadClass(FileNotifier.class.getName());
    assertThat(otherCopy).isNotSameAs(FileNotifier.class);
    var make = otherCopy.getDeclaredConstructor(Path.class);
    make.setAccessible(true);
    var hasProcessEnded = otherCopy.getDeclaredMethod("hasProcessEnded", SessionId.class);
    hasProcessEnded.setAccessible(true);
    try (FileNotifier listener = new FileNotifier(database());
        AutoCloseable other = (AutoCloseable) make.newInstance(database())) {
      listener.listen(SESSION);
      assertThat(hasProcessEnded.invoke(other, SESSION)).isEqualTo(false);
      assertThat(isLocked(own(SESSION).resolve("alive"))).isTrue();
    }
  }

  private void assertThatHandOffWorks() throws Exception {
    String url = "jdbc:sqlite:" + database();
    try (LockClient one = LockClient.connect(url);
        LockClient two = LockClient.connect(url)) {
      Lease held = one.lock("a").acquireWithin(TTL);
      var waits = two.lock("a").acquireAsync();
      held.close();
      waits.get(20, TimeUnit.SECONDS).close();
    }
  }

  /** Another user, whom only root can play. */
  private UserPrincipal nobody() throws IOException {
    Assumptions.assumeTrue(
        PowerLossDisks.mayMount(), "SKIPPED: acting as another user needs root.");
    return directory
        .getFileSystem()
        .getUserPrincipalLookupService()
        .lookupPrincipalByName("nobody");
  }

  private static void asNobody(String script) throws Exception {
    assertThat(runs("setpriv", "--reuid=nobody", "--clear-groups", "sh", "-ec", script)).isTrue();
  }

  /** Asked of the kernel: this JVM would give the lock up by looking. */
  private static boolean isLocked(Path file) throws IOException {
    String node = ":" + Files.getAttribute(file, "unix:ino") + " ";
    return Files.readString(Path.of("/proc/locks")).contains(node);
  }

  private static boolean runs(String... command) throws Exception {
    Process running = new ProcessBuilder(command).inheritIO().start();
    assertThat(running.waitFor(20, TimeUnit.SECONDS)).isTrue();
    return running.exitValue() == 0;
  }
}
