package io.mortise.console.internal.api;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.console.internal.http.RecentFailure;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.view.DoctorReport;
import io.mortise.console.view.GuaranteeFormatter;
import io.mortise.console.view.HazardStory;
import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The store's settings, and the guarantees of its locks. */
final class ExaminedStore {
  /** The least age of a result before a new examination, as a key press can request one. */
  private static final long LEAST_AGE = Duration.ofSeconds(5).toNanos();

  private final @Nullable Supplier<StoreReport> examine;
  private final String display;
  private final Ticker ticker;
  private final InstantSource clock;
  private final GuaranteeTable table = GuaranteeTable.load();
  private volatile @Nullable Examined last;
  private final RecentFailure recentFailure;

  private record Examined(StoreReport report, Instant at, long nanos) {}

  ExaminedStore(
      @Nullable Supplier<StoreReport> examine, String display, Ticker ticker, InstantSource clock) {
    this.examine = examine;
    this.display = display;
    this.ticker = ticker;
    this.clock = clock;
    this.recentFailure = new RecentFailure(ticker);
  }

  /** The mode of the last examination; null without one, or if the table does not list it. */
  @Nullable String mode() {
    Examined seen = last;
    return seen == null
        ? null
        : DoctorReport.mode(seen.report(), table).map(StoreMode::id).orElse(null);
  }

  /** Blocks for the store on the first call, and if a fresh examination is requested. */
  Map<String, @Nullable Object> doctor(boolean fresh) {
    Supplier<StoreReport> how = examine;
    if (how == null) {
      throw new RefusedException(
          404, "not-found", "This console was started without a look at the store's settings.", "");
    }
    Examined known = known(fresh);
    Examined seen = known != null ? known : examined(how, fresh);
    Map<String, @Nullable Object> json = DoctorReport.json(display, seen.report(), table);
    json.put("asOfAt", JsonParts.at(seen.at()));
    return json;
  }

  /** Whether {@link #doctor} answers without asking the store. */
  boolean isKnown(boolean fresh) {
    return known(fresh) != null;
  }

  private @Nullable Examined known(boolean fresh) {
    Examined seen = last;
    return seen != null && (!fresh || ticker.nanos() - seen.nanos() < LEAST_AGE) ? seen : null;
  }

  private synchronized Examined examined(Supplier<StoreReport> how, boolean fresh) {
    Examined seen = known(fresh);
    if (seen != null) {
      return seen;
    }
    // Requests that queued behind a silent store must not ask it one after the other.
    recentFailure.check();
    try {
      Examined now = new Examined(how.get(), clock.instant(), ticker.nanos());
      last = now;
      recentFailure.forget();
      return now;
    } catch (RuntimeException e) {
      recentFailure.remember(() -> copy(e));
      throw e;
    }
  }

  /** Copies a failure for another request. */
  private static RuntimeException copy(RuntimeException failure) {
    String message = String.valueOf(failure.getMessage());
    if (failure instanceof StoreUnavailableException) {
      return new StoreUnavailableException(message, failure);
    } else if (failure instanceof StoreUnfitException) {
      return new StoreUnfitException(message, failure);
    } else if (failure instanceof UnsupportedByStoreException) {
      return new UnsupportedByStoreException(message);
    }
    return new IllegalStateException("The last look at the store's settings failed.", failure);
  }

  Map<String, @Nullable Object> guarantees(String mode) {
    List<StoreMode> modes =
        mode.isEmpty()
            ? table.modes()
            : table.modes().stream().filter(known -> known.id().equals(mode)).toList();
    if (modes.isEmpty()) {
      throw new RefusedException(404, "not-found", "The table has no row of that name.", "");
    }
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("here", mode());
    json.put(
        "faults",
        table.faults().stream()
            .map(
                fault ->
                    Map.of(
                        "id",
                        fault.id(),
                        "title",
                        fault.title(),
                        "meaning",
                        GuaranteeFormatter.plain(fault.meaning())))
            .toList());
    json.put(
        "answers",
        Stream.of(GuaranteeLevel.values())
            .map(
                level ->
                    Map.of(
                        "id",
                        level.name().toLowerCase(Locale.ROOT),
                        "words",
                        level.words(),
                        "meaning",
                        level.meaning()))
            .toList());
    json.put("modes", modes.stream().map(row -> GuaranteeFormatter.json(table, row)).toList());
    return json;
  }

  /** The stories of hazards, with the fate of locks on this store. */
  Map<String, @Nullable Object> hazards() {
    String here = mode();
    StoreMode mode = here == null ? null : table.mode(here);
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("here", here);
    json.put("stories", HazardStory.all().stream().map(story -> story.json(table, mode)).toList());
    return json;
  }
}
