package io.mortise.cli;

import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.cli.output.LockListing;
import io.mortise.cli.output.Pager;
import io.mortise.cli.output.Terminal;
import io.mortise.console.view.JsonWriter;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import java.io.PrintStream;
import java.text.Normalizer;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code mortise show}: all that a store knows of one lock. */
@Command(
    name = "show",
    description = "Show who holds a lock, since when, and who waits for it.",
    footer = {
      "",
      "Says 'no record of it', with exit status 0, if the store knows nothing of the lock: it was never used, or not"
          + " for long, and is free. SINCE is by this host's clock. SESSION is"
          + " how long the process counts as alive without a renewal. ATTEMPT is what 'mortise evict' takes."
    })
final class ShowCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;

  @Mixin private StoreOptions store;

  @Parameters(paramLabel = "NAME", description = "The lock's name.")
  private String name = "";

  @Option(names = "--json", description = "Write a JSON object.")
  private boolean json;

  ShowCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() {
    LockName.of(name);
    LockInfo lock;
    String twin = null;
    try (LockClient client = store.look()) {
      Optional<LockInfo> found = client.admin().find(name);
      lock =
          found.orElseGet(
              () ->
                  new LockInfo(
                      name,
                      OptionalInt.empty(),
                      0,
                      Duration.ZERO,
                      List.of(),
                      List.of(),
                      0,
                      0,
                      null));
      if (found.isEmpty()) {
        twin = twin(client.admin());
      }
    }
    PrintStream out = cliEnvironment.out();
    if (json) {
      out.println(JsonWriter.write(LockFormatter.json(lock)));
    } else {
      Pager.print(
          out,
          cliEnvironment.variables(),
          LockListing.details(
              lock, ZonedDateTime.now(ZoneId.systemDefault()), Terminal.STDOUT.size().columns()));
    }
    if (twin != null) {
      cliEnvironment
          .err()
          .println(
              "mortise: there is a lock '"
                  + OutputSanitizer.text(twin)
                  + "', whose name looks the same: it has other characters of Unicode.");
    }
    return ExitStatus.OK;
  }

  /** A recorded name that looks the same, but is in the other normal form of Unicode. */
  private @Nullable String twin(LockAdmin admin) {
    for (Normalizer.Form form : List.of(Normalizer.Form.NFC, Normalizer.Form.NFD)) {
      String other = Normalizer.normalize(name, form);
      if (!other.equals(name) && admin.find(other).isPresent()) {
        return other;
      }
    }
    return null;
  }
}
