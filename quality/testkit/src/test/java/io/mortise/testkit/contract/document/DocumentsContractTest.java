package io.mortise.testkit.contract.document;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.StoreUnavailableException;
import io.mortise.support.document.VersionedDocuments;
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
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

/** The published suite accepts correct documents, and detects each flaw. */
class DocumentsContractTest {
  /** Each test of the suite, and flaws that it must catch. */
  private static final Map<String, Set<Flaw>> CATCHES =
      Map.ofEntries(
          entry(
              "givenDocument_thenItIsReplacedByItsVersionOnly_andVersionsRise",
              Set.of(Flaw.REMOVES_ANY_VERSION, Flaw.CUTS_TEXTS_AT_CONTROL_CHARACTERS)),
          entry(
              "givenDocumentThatWasMadeAndRemoved_whenAWriteThatFoundNoneArrivesLate_thenItIsRefused",
              Set.of(Flaw.COUNTS_A_NEW_DOCUMENT_FROM_ONE)),
          entry(
              "givenSameTextWrittenAgain_thenTheVersionRises_andAWriteThatFoundTheFirstIsRefused",
              Set.of(Flaw.COMPARES_TEXTS, Flaw.SKIPS_WRITES_THAT_CHANGE_NOTHING)),
          entry(
              "givenDocumentThatIsRemovedAgainAndAgain_whenWritesThatFoundNoneArriveLate_thenNoneIsMade",
              Set.of(
                  Flaw.REMEMBERS_THE_FIRST_REMOVAL_ONLY,
                  Flaw.REMEMBERS_THE_LAST_TWO_REMOVALS,
                  Flaw.COMPARES_ABSENT_VERSIONS_AS_TEXTS)),
          entry(
              "givenRemovedDocument_whenItIsForgotten_thenEarlierWritesThatFoundNoneAreStillRefused",
              Set.of(Flaw.FORGETS_REMOVALS_AT_ONCE, Flaw.FORGETS_DOCUMENTS)),
          entry(
              "givenTwoProcesses_whenAWriteHasCompleted_thenBothReadIt",
              Set.of(Flaw.READS_WHAT_IT_REMEMBERS)),
          entry(
              "givenAnswersOfWrites_thenEachTellsWhatStands_andTheNextWriteGoesByIt",
              Set.of(Flaw.TELLS_WHAT_STOOD_BEFORE)),
          entry(
              "givenWritesOfTwoProcessesAtATime_thenOneOfThemIsMade",
              Set.of(Flaw.COMPARES_NOTHING)),
          entry(
              "givenWatchesOfADocument_whenAnotherProcessWrites_thenEachIsTold_andNotAfterItsEnd",
              Set.of(
                  Flaw.NEVER_TELLS,
                  Flaw.TELLS_OWN_WRITES_ONLY,
                  Flaw.TELLS_THE_LAST_WATCH_ONLY,
                  Flaw.TELLS_AFTER_THE_END)),
          entry(
              "givenSeveralDocuments_whenOneHasChanged_thenNoneIsWritten_otherwiseAllAre",
              Set.of(Flaw.COMPARES_THE_FIRST_ONLY, Flaw.WRITES_A_PART)),
          entry(
              "givenWatchThatTellsTexts_thenEachIsThatOfItsVersion",
              Set.of(Flaw.TELLS_THE_TEXT_BEFORE)),
          entry(
              "givenWatchedDocuments_thenTheFirstOwnWriteOfEachIsNotTold",
              Set.of(Flaw.TELLS_OWN_WRITES_TOO)),
          entry(
              "givenWriteThatArrivesLate_whenNobodyWroteMeanwhile_thenItIsMade",
              Set.of(Flaw.REFUSES_LATE_WRITES)),
          entry(
              "givenWriteThatArrivesLate_whenAnotherWroteMeanwhile_thenItIsRefused",
              Set.of(Flaw.COMPARES_BEFORE_IT_WRITES)),
          entry(
              "givenWriteWhoseAnswerIsLost_thenItsFateIsUnknown_andNotThatItWasRefused",
              Set.of(Flaw.TELLS_LOST_ANSWERS_AS_REFUSALS, Flaw.SENDS_LOST_WRITES_AGAIN)),
          entry(
              "givenServerThatDoesNotAnswer_thenNoCallWaitsForIt",
              Set.of(Flaw.WAITS_FOR_WHAT_IT_READS)),
          entry(
              "givenConnectionThatCannotBeMade_thenNoCallWaitsForIt",
              Set.of(Flaw.CONNECTS_IN_THE_CALLER)),
          entry(
              "givenAnswerThatIsBeingTold_thenFurtherCallsReturn",
              Set.of(Flaw.ANSWERS_UNDER_A_LOCK)),
          entry(
              "givenServerThatIsCutOff_thenReadsAndListsTellOfNoAbsence_andItIsUsedAgainWhenItIsBack",
              Set.of(
                  Flaw.READS_NOTHING_WITHOUT_AN_ANSWER,
                  Flaw.LISTS_NOTHING_WITHOUT_AN_ANSWER,
                  Flaw.STAYS_BROKEN)),
          entry(
              "givenWatchWhoseConnectionBroke_whenItsDocumentIsWrittenAgain_thenItTellsOfChanges",
              Set.of(Flaw.FORGETS_BROKEN_WATCHES)),
          entry(
              "givenLongTexts_thenAllOfEachIsKept",
              Set.of(Flaw.CUTS_LONG_TEXTS, Flaw.CUTS_TEXTS_TO_16_BITS)),
          entry(
              "givenTextsOfAnyLength_thenEachIsKept_orRefusedAndTheDocumentStandsAsBefore",
              Set.of(Flaw.TELLS_TOO_LONG_TEXTS_AS_LOST)),
          entry(
              "givenNamesThatAreAlike_thenEachIsADocumentOfItsOwn_andComesBackAsItWas",
              Set.of(Flaw.KEEPS_NO_CASE, Flaw.STRIPS_BLANKS, Flaw.ESCAPES_STARS_ONLY)),
          entry(
              "givenManyDocuments_thenTheyAreListedPageByPage_eachKindByItself",
              Set.of(
                  Flaw.CUTS_LONG_KEYS,
                  Flaw.LISTS_ALL_KINDS,
                  Flaw.LISTS_A_PAGE_TOO_FEW,
                  Flaw.LISTS_A_KEY_TWICE)),
          entry(
              "givenLastKeyOfAPage_whenItsDocumentIsRemoved_thenTheNextPageBeginsBehindIt",
              Set.of(Flaw.BEGINS_ANEW_BEHIND_A_REMOVED_KEY)),
          entry(
              "givenMoreDocumentsThanServersListAtATime_whenAllAreAskedFor_thenNoneIsLeftOut",
              Set.of(Flaw.CAPS_A_PAGE)));

  /** Tests whose flaws keep them waiting to the end. */
  private static final Set<Flaw> WAITED_FOR =
      EnumSet.of(
          Flaw.NEVER_TELLS,
          Flaw.TELLS_OWN_WRITES_ONLY,
          Flaw.TELLS_THE_LAST_WATCH_ONLY,
          Flaw.ANSWERS_UNDER_A_LOCK,
          Flaw.CONNECTS_IN_THE_CALLER,
          Flaw.STAYS_BROKEN,
          Flaw.FORGETS_BROKEN_WATCHES);

  private static final int SHORT_MILLIS = 200;

  private static ServerSocket server;

  /** Steps of the server, by the number that it receives. */
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

  /** Runs one step for each connection and answers. */
  private static void serve() {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        STEPS.remove(new DataInputStream(socket.getInputStream()).readInt()).run();
        socket.getOutputStream().write(1);
      } catch (IOException e) {
        // The server is closed, or the request was abandoned.
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

  /** Returns the failure of the test. */
  private static Optional<Throwable> finding(Method test, Flaw flaw)
      throws ReflectiveOperationException {
    Suite suite = new Suite(flaw);
    try {
      test.invoke(suite);
      return Optional.empty();
    } catch (InvocationTargetException e) {
      return Optional.of(e.getCause());
    } finally {
      suite.close();
    }
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
  void givenRightDocuments_thenEachTestPasses() throws Exception {
    for (Method test : tests()) {
      assertThat(finding(test, Flaw.NONE)).as(test.getName()).isEmpty();
    }
  }

  @Test
  void givenDocumentsWithAFlaw_thenTheTestForItFails_andEachTestIsForOne() throws Exception {
    assertThat(CATCHES.keySet())
        .containsExactlyInAnyOrderElementsOf(tests().stream().map(Method::getName).toList());
    assertThat(CATCHES.values().stream().flatMap(Set::stream))
        .containsExactlyInAnyOrderElementsOf(EnumSet.complementOf(EnumSet.of(Flaw.NONE)));
    for (Method test : tests()) {
      for (Flaw flaw : CATCHES.get(test.getName())) {
        assertThat(finding(test, flaw))
            .as("what %s finds in documents with the flaw %s", test.getName(), flaw)
            .containsInstanceOf(AssertionError.class);
      }
    }
  }
}
