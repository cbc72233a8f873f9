package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.output.Terminal;
import io.mortise.cli.view.EvictionPrompt;
import io.mortise.console.view.EvictionText;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.AttemptId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise evict}: ends a hold or wait. */
@Command(
    name = "evict",
    description = "End somebody's hold of a lock, or wait for it, or open one that is shut.",
    footer = {
      "",
      "The holder is told, and the lock stays shut until it has let go or its session is over. With --now the lock is"
          + " free at once, while the holder may go on working until it hears of it: two may then work at the same"
          + " time, and only a resource that checks the fencing token refuses the older one.",
      "",
      "A lock that nobody holds may be shut all the same: until the at-least time of its last hold is over, or that of a"
          + " command whose mortise crashed. With --now it opens at once."
    })
final class EvictCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Spec private CommandSpec spec;
  @Mixin private StoreOptions store;

  @Parameters(paramLabel = "NAME", description = "The lock's name.")
  private String name = "";

  @Option(
      names = "--attempt",
      paramLabel = "ID",
      description =
          "Whose, as 'mortise show' says. Needed if there are several holders, or for a waiter.")
  private @Nullable String attempt;

  @Option(names = "--now", description = "Free the lock at once; see below what that risks.")
  private boolean now;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask. Needed where there is no terminal to ask on.")
  private boolean yes;

  EvictCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() {
    LockName.of(name);
    String wanted = attempt == null ? null : AttemptId.of(attempt).encoded();
    boolean canAsk = Terminal.STDIN.isPresent() && Terminal.STDERR.isPresent();
    if (!yes && !canAsk) {
      throw new ParameterException(
          spec.commandLine(), "There is no terminal to ask on. Add --yes if you are sure.");
    }
    try (LockClient client = store.look()) {
      Optional<LockInfo> view = client.admin().find(name);
      Optional<LockParticipant> party = view.flatMap(lock -> choose(lock, wanted));
      if (party.isEmpty() && wanted == null) {
        return open(client, view.map(LockInfo::shutFor).orElse(Duration.ZERO));
      } else if (party.isEmpty()) {
        store.say("Attempt " + attempt + " neither holds nor waits for lock '" + name + "'.");
        return ExitStatus.OK;
      }
      return evict(client, view.get(), party.get());
    }
  }

  private int evict(LockClient client, LockInfo lock, LockParticipant party) {
    boolean holds = lock.holders().contains(party);
    boolean dead = holds && LockFormatter.isGone(party);
    if (dead && !now && !lock.shutFor().isZero()) {
      store.say(EvictionPrompt.outlived(lock) + " With --now it opens at once.");
      return ExitStatus.OK;
    }
    if (!yes) {
      EvictionPrompt.lines(lock, party, now).forEach(cliEnvironment.err()::println);
      if (!isAgreed(EvictionPrompt.question(holds && now))) {
        store.say("Nothing was done.");
        return ExitStatus.FAILED;
      }
    }
    // A wait too: it may have become a hold meanwhile, which must not be freed at once.
    Eviction how = now ? Eviction.BREAK : Eviction.CLOSE;
    EvictionResult result = client.admin().evict(name, party.attempt(), how);
    store.say(EvictionText.of(result, name, party, now, dead));
    return ExitStatus.OK;
  }

  /** The chosen participant; empty if it is gone. */
  private Optional<LockParticipant> choose(LockInfo lock, @Nullable String wanted) {
    if (wanted != null) {
      return Stream.concat(lock.holders().stream(), lock.waiters().stream())
          .filter(party -> party.attempt().equals(wanted))
          .findFirst();
    }
    List<LockParticipant> holders = lock.holders();
    if (holders.size() > 1) {
      throw new ParameterException(
          spec.commandLine(),
          "Lock '"
              + name
              + "' has "
              + holders.size()
              + " holders. Choose one with --attempt=ID; 'mortise show' lists them.");
    }
    return holders.stream().findFirst();
  }

  /** Opens a lock without a holder, which an at-least time may keep taken. */
  private int open(LockClient client, Duration shutFor) {
    String shut = EvictionPrompt.nobody(name, shutFor);
    if (shutFor.isZero()) {
      store.say(shut);
      return ExitStatus.OK;
    }
    if (!now) {
      store.say(shut + " With --now it opens at once.");
      return ExitStatus.OK;
    }
    if (!yes) {
      cliEnvironment.err().println(shut);
      cliEnvironment.err().println(EvictionPrompt.MAY_GO_ON);
      if (!isAgreed(EvictionPrompt.OPEN)) {
        store.say("Nothing was done.");
        return ExitStatus.FAILED;
      }
    }
    store.say(EvictionText.opened(OutputSanitizer.text(name), client.admin().reopen(name)));
    return ExitStatus.OK;
  }

  private boolean isAgreed(String question) {
    cliEnvironment.err().print(question + " [y/N] ");
    cliEnvironment.err().flush();
    try {
      String answer =
          new BufferedReader(new InputStreamReader(cliEnvironment.in(), Charset.defaultCharset()))
              .readLine();
      return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
    } catch (IOException e) {
      return false;
    }
  }
}
