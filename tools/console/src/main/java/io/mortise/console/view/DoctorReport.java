package io.mortise.console.view;

import io.mortise.guarantee.Fault;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreReport.Finding;
import io.mortise.spi.StoreReport.Grade;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A store's report about itself, for programs. Values come from a server and have no secrets. */
public final class DoctorReport {
  private DoctorReport() {}

  /** Whether no setting weakens a guarantee, and none is unknown. */
  public static boolean isHealthy(StoreReport report) {
    return report.findings().stream()
        .noneMatch(finding -> finding.grade() == Grade.WEAK || finding.grade() == Grade.UNKNOWN);
  }

  /** The store's row of the table; empty if it has none. */
  public static Optional<StoreMode> mode(StoreReport report, GuaranteeTable table) {
    return Optional.of(report.mode()).filter(id -> !id.isEmpty()).map(table::mode);
  }

  /** The report as a JSON object. */
  public static Map<String, @Nullable Object> json(
      String display, StoreReport report, GuaranteeTable table) {
    Optional<StoreMode> mode = mode(report, table);
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("store", OutputSanitizer.hide(display));
    object.put("healthy", isHealthy(report));
    object.put("mode", mode.map(StoreMode::id).orElse(null));
    object.put("findings", report.findings().stream().map(DoctorReport::json).toList());
    object.put("guarantees", mode.map(row -> (Object) answers(table, row.id())).orElse(List.of()));
    return object;
  }

  private static Map<String, String> answers(GuaranteeTable table, String mode) {
    Map<String, String> answers = new LinkedHashMap<>();
    for (Fault fault : table.faults()) {
      answers.put(
          fault.id(), table.cell(mode, fault.id()).answer().name().toLowerCase(Locale.ROOT));
    }
    return answers;
  }

  private static Map<String, Object> json(Finding finding) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("id", finding.id());
    object.put("grade", finding.grade().name().toLowerCase(Locale.ROOT));
    object.put("value", OutputSanitizer.hide(finding.value()));
    object.put("meaning", OutputSanitizer.hide(finding.meaning()));
    object.put("remedy", OutputSanitizer.hide(finding.remedy()));
    object.put("decides", finding.faults().stream().sorted().toList());
    return object;
  }
}
