package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.document.VersionedDocuments;
import io.mortise.testkit.contract.document.FlawedDocuments.Flaw;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The published suite itself: it passes right documents, and catches each wrong one. */
class DocumentsContractTest {
  /** Of flaws that keep the suite waiting to the end. */
  private static final Set<Flaw> WAITED_FOR =
      EnumSet.of(
          Flaw.NEVER_TELLS,
          Flaw.TELLS_OWN_WRITES_ONLY,
          Flaw.TELLS_THE_LAST_WATCH_ONLY,
          Flaw.READS_WHAT_IT_REMEMBERS,
          Flaw.SKIPS_WRITES_THAT_CHANGE_NOTHING,
          Flaw.ANSWERS_UNDER_A_LOCK,
          Flaw.CONNECTS_IN_THE_CALLER,
          Flaw.STAYS_BROKEN,
          Flaw.FORGETS_BROKEN_WATCHES);

  private static final int SHORT_MILLIS = 200;

  private static ServerSocket server;

  /** What the server is to do, by the number that it is sent. */
  private static final Map<Integer, Runnable> STEPS = new ConcurrentHashMap<>();

  private static final AtomicInteger NUMBERS = new AtomicInteger();

  @BeforeAll
  static void listen() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(DocumentsContractTest::serve, "server");
    thread.setDaemon(true);
    thread.start();
  }

  @AfterAll
  static void end() throws IOException {
    server.close();
  }

  /** Takes one step for each connection, and says so. */
  private static void serve() {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        STEPS.remove(new DataInputStream(socket.getInputStream()).readInt()).run();
        socket.getOutputStream().write(1);
      } catch (IOException e) {
        // The end, or a request that was given up.
      }
    }
  }

  /** The suite over documents with a flaw. */
  private static final class Suite extends DocumentsContract {
    private final FlawedDocuments.Server documents = new FlawedDocuments.Server();
    private final Flaw flaw;

    Suite(Flaw flaw) {
      this.flaw = flaw;
    }

    @Override
    protected VersionedDocuments open() {
      return new FlawedDocuments(documents, flaw, CompletableFuture::runAsync);
    }

    @Override
    protected VersionedDocuments openBehind(int port) {
      return new FlawedDocuments(documents, flaw, step -> network(port, step));
    }

    @Override
    protected int port() {
      return server.getLocalPort();
    }

    @Override
    Duration patience() {
      return WAITED_FOR.contains(flaw) ? Duration.ofMillis(SHORT_MILLIS) : super.patience();
    }

    /** As many as it takes to catch the flaw. */
    @Override
    int many() {
      return flaw == Flaw.CAPS_A_PAGE || flaw == Flaw.NONE ? super.many() : 10;
    }

    private CompletionStage<?> network(int port, Runnable step) {
      if (flaw == Flaw.CONNECTS_IN_THE_CALLER) {
        try {
          send(port, () -> {}, SHORT_MILLIS);
        } catch (StoreUnavailableException e) {
          return CompletableFuture.failedFuture(e);
        }
      }
      int timeout = flaw == Flaw.WAITS_FOR_WHAT_IT_READS ? SHORT_MILLIS : 60_000;
      return CompletableFuture.runAsync(
          () -> send(port, step, timeout), task -> new Thread(task, "network").start());
    }

    private static void send(int port, Runnable step, int timeout) {
      int number = NUMBERS.incrementAndGet();
      STEPS.put(number, step);
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket.setSoTimeout(timeout);
        new DataOutputStream(socket.getOutputStream()).writeInt(number);
        if (socket.getInputStream().read() < 0) {
          throw new EOFException();
        }
      } catch (IOException e) {
        throw new StoreUnavailableException("no answer", e);
      }
    }
  }

  /** Without a server that listens. */
  private static final class EmbeddedSuite extends DocumentsContract {
    private final FlawedDocuments.Server documents = new FlawedDocuments.Server();

    @Override
    protected VersionedDocuments open() {
      return new FlawedDocuments(documents, Flaw.NONE, CompletableFuture::runAsync);
    }
  }

  private static List<Method> tests() {
    return Stream.of(DocumentsContract.class, DocumentContentSuite.class)
        .flatMap(suite -> Arrays.stream(suite.getDeclaredMethods()))
        .filter(method -> method.isAnnotationPresent(Test.class))
        .toList();
  }

  /** The tests of the suite that fail. */
  private static Set<String> failing(Flaw flaw) throws ReflectiveOperationException {
    Set<String> failing = new TreeSet<>();
    for (Method test : tests()) {
      Suite suite = new Suite(flaw);
      try {
        test.invoke(suite);
      } catch (InvocationTargetException e) {
        failing.add(test.getName());
      } finally {
        suite.close();
      }
    }
    return failing;
  }

  @Test
  void givenDocumentsWithoutAPort_thenFaultsAreSkippedAloud_andTheRestPasses() throws Exception {
    Set<String> skipped = new TreeSet<>();
    for (Method test : tests()) {
      EmbeddedSuite suite = new EmbeddedSuite();
      try {
        test.invoke(suite);
      } catch (InvocationTargetException e) {
        assertThat(e)
            .as(test.getName())
            .rootCause()
            .hasMessageContaining("Assumption failed: SKIPPED: there is no port()");
        skipped.add(test.getName());
      } finally {
        suite.close();
      }
    }
    assertThat(skipped)
        .containsExactly(
            "givenAnswerThatIsBeingTold_thenFurtherCallsReturn",
            "givenConnectionThatCannotBeMade_thenNoCallWaitsForIt",
            "givenServerThatDoesNotAnswer_thenNoCallWaitsForIt",
            "givenServerThatIsCutOff_thenReadsAndListsTellOfNoAbsence_andItIsUsedAgainWhenItIsBack",
            "givenWatchWhoseConnectionBroke_whenItsDocumentIsWrittenAgain_thenItTellsOfChanges",
            "givenWriteThatArrivesLate_whenAnotherWroteMeanwhile_thenItIsRefused",
            "givenWriteThatArrivesLate_whenNobodyWroteMeanwhile_thenItIsMade",
            "givenWriteWhoseAnswerIsLost_thenItsFateIsUnknown_andNotThatItWasRefused");
  }

  @Test
  void givenDocuments_thenRightOnesPass_eachFlawIsCaught_andEachTestCatchesOne() throws Exception {
    Map<Flaw, Set<String>> failing = new EnumMap<>(Flaw.class);
    for (Flaw flaw : Flaw.values()) {
      failing.put(flaw, failing(flaw));
    }
    assertThat(failing.remove(Flaw.NONE)).as("the control").isEmpty();
    assertThat(failing).allSatisfy((flaw, tests) -> assertThat(tests).as("%s", flaw).isNotEmpty());
    assertThat(failing.values().stream().flatMap(Set::stream).distinct())
        .as("tests that have caught a flaw")
        .containsExactlyInAnyOrderElementsOf(tests().stream().map(Method::getName).toList());
  }
}
