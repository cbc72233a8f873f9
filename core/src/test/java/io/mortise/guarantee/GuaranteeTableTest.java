package io.mortise.guarantee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuaranteeTableTest {
  private static final String COLUMNS =
      """
      # a comment
      [fault pause]
      title = Pause
      means = It stands still
       and goes on.

      [mode paper]
      title = Paper
      contract = office:PaperTest

      [mode stone/wet]
      title = Stone

      [cell * pause]
      answer = detected
      because = Anything may stop.
      test = office:StopTest#given
      """;

  private static GuaranteeTable table(String more) {
    return GuaranteeTable.parse((COLUMNS + more).lines().toList());
  }

  @Test
  void givenTable_whenRead_thenItsPartsAreThere() {
    GuaranteeTable table = table("");
    assertThat(table.faults())
        .containsExactly(new Fault("pause", "Pause", "It stands still and goes on."));
    assertThat(table.modes()).extracting(StoreMode::store).containsExactly("paper", "stone");
    assertThat(table.row("stone/wet"))
        .containsExactly(
            new Guarantee(
                new StoreMode("stone/wet", "Stone"),
                table.fault("pause"),
                GuaranteeLevel.DETECTED,
                "Anything may stop.",
                List.of("office:StopTest#given")));
  }

  @Test
  void givenLaterSections_whenRead_thenAnAnswerReplacesAndOthersAdd() {
    GuaranteeTable table =
        table(
            """
            [cell paper,stone* pause]
            because = It tears.
            test = contract>Suite#given
            [cell none,stone* pause]
            answer = safe
            because = It never moved.
            """);
    Guarantee paper = table.cell("paper", "pause");
    assertThat(paper.because()).isEqualTo("Anything may stop. It tears.");
    assertThat(paper.tests())
        .containsExactly("office:StopTest#given", "office:PaperTest>Suite#given");
    assertThat(table.cell("stone/wet", "pause").answer()).isEqualTo(GuaranteeLevel.SAFE);
    assertThat(table.cell("stone/wet", "pause").tests()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense",
        "[cell paper pause]\n goes on, but with what?",
        "[cell papyrus pause]\nanswer = safe\nbecause = x",
        "[cell paper pause]\nanswer = safe",
        "[fault flood]\ntitle = Flood\nmeans = Water.",
        "[cupboard]\nanswer = x"
      })
  void givenTableThatSaysNothingClear_whenRead_thenRefused(String more) {
    assertThatThrownBy(() -> table(more)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void givenTableOfThisRelease_whenLoaded_thenEachCellHasItsReason() {
    GuaranteeTable table = GuaranteeTable.load();
    assertThat(table.faults()).hasSizeGreaterThan(11);
    Stream<Guarantee> cells = table.modes().stream().flatMap(mode -> table.row(mode.id()).stream());
    assertThat(cells)
        .allMatch(cell -> cell.because().endsWith(".") || cell.because().endsWith(")"));
    assertThatThrownBy(() -> table.row("papyrus")).isInstanceOf(NoSuchElementException.class);
  }
}
