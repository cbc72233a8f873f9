package shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The check of reports finds what is wrong. */
class ReportsTest {
  @Test
  void givenHistoriesThatAreWrong_whenChecked_thenEachIsFound() {
    Reports.Entry first = new Reports.Entry(1, 10, "a", true);
    assertThat(new Reports(List.of(first, new Reports.Entry(2, 13, "b", true))).violations(3))
        .isEmpty();
    assertThat(new Reports(List.of(first, new Reports.Entry(2, 10, "b", true))).violations(3))
        .singleElement()
        .asString()
        .startsWith("twice");
    assertThat(new Reports(List.of(first, new Reports.Entry(2, 9, "b", true))).violations(3))
        .singleElement()
        .asString()
        .startsWith("out of order");
    assertThat(new Reports(List.of(first, new Reports.Entry(2, 14, "b", true))).violations(3))
        .singleElement()
        .asString()
        .startsWith("none for too long");
  }
}
