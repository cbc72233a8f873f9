package io.mortise.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FencingHeaderTest {
  private static final FencingToken TOKEN =
      new FencingToken("invoice/42", 1795557150994869L, "session-7");
  private static final String TEXT =
      "v1;lock=\"invoice/42\";value=\"1795557150994869\";holder=\"session-7\"";

  @Test
  void givenToken_whenFormatted_thenItIsTheDocumentedText_andIsReadBack() {
    assertThat(FencingHeader.format(TOKEN)).isEqualTo(TEXT);
    assertThat(FencingHeader.parse(TEXT)).isEqualTo(TOKEN);
    assertThat(
            FencingHeader.addTo(HttpRequest.newBuilder(URI.create("http://localhost/")), TOKEN)
                .build()
                .headers()
                .allValues("Fencing-Token"))
        .containsExactly(TEXT);
  }

  @Test
  void givenNamesOfAllKinds_whenFormatted_thenTheTextIsAscii_andIsReadBack() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 2000; round++) {
      String name = round == 0 ? "é\"%\\;=😀" : name(random);
      FencingToken token =
          new FencingToken(name, 1 + (random.nextLong() >>> 2), name.length() + "\" \\;%~");
      String text = FencingHeader.format(token);
      assertThat(text).as("seed " + seed).matches("[ -~]+");
      assertThat(FencingHeader.parse(text)).as("seed " + seed).isEqualTo(token);
    }
    assertThat(FencingHeader.format(new FencingToken("a%é", Long.MAX_VALUE, "h")))
        .isEqualTo("v1;lock=%\"a%25%c3%a9\";value=\"9223372036854775807\";holder=\"h\"");
  }

  private static String name(Random random) {
    StringBuilder name = new StringBuilder();
    int length = 1 + random.nextInt(40);
    int most = random.nextBoolean() ? 0x7e : 0x2fff;
    for (int i = 0; i < length; i++) {
      name.append((char) (0x20 + random.nextInt(most - 0x20 + 1)));
    }
    try {
      return new FencingToken(name + "x", 1, "h").lock();
    } catch (IllegalArgumentException e) {
      return "no name";
    }
  }

  @Test
  void givenOtherParameters_orAnotherOrder_whenRead_thenTheTokenIsFound() {
    assertThat(
            FencingHeader.parse(
                " v1; holder=\"session-7\";later=?1;n=-4.2;flag; value=\"1795557150994869\";lock=\"invoice/42\" "))
        .isEqualTo(TOKEN);
  }

  @Test
  void givenTextsThatAreNoToken_whenRead_thenEachIsRefused_andNoneCanForgeALineOfALog() {
    for (String text :
        List.of(
            "",
            "v2;lock=\"a\";value=\"1\";holder=\"h\"",
            "v1",
            "v1;lock=\"a\";value=\"1\"",
            "v1;lock=\"a\";value=\"0\";holder=\"h\"",
            "v1;lock=\"a\";value=\"-1\";holder=\"h\"",
            "v1;lock=\"a\";value=\"01\";holder=\"h\"",
            "v1;lock=\"a\";value=\"9223372036854775808\";holder=\"h\"",
            "v1;lock=\"\";value=\"1\";holder=\"h\"",
            "v1;lock=\"a\";value=\"1\";holder=\"\"",
            "v1;lock=\"a\";value=\"1\";value=\"2\";holder=\"h\"",
            "v1;lock=\"a;value=\"1\";holder=\"h\"",
            "v1;lock=\"a\\n\";value=\"1\";holder=\"h\"",
            "v1;lock=\"é\";value=\"1\";holder=\"h\"",
            "v1;lock=%\"%FF\";value=\"1\";holder=\"h\"",
            "v1;lock=%\"%ff\";value=\"1\";holder=\"h\"",
            "v1;lock=%\"%0a\";value=\"1\";holder=\"h\"",
            TEXT + "," + TEXT,
            TEXT + " \r\nERROR all is lost",
            "v1;lock=\"" + "a".repeat(5000) + "\";value=\"1\";holder=\"h\"")) {
      assertThatThrownBy(() -> FencingHeader.parse(text))
          .as(text)
          .isInstanceOf(InvalidFencingHeaderException.class)
          .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n").hasSizeLessThan(500));
    }
  }

  @Test
  void givenDigits_whenRead_thenTheLockIsTheGivenOne() {
    assertThat(FencingHeader.parseDigits("917", "a"))
        .isEqualTo(new FencingToken("a", 917, FencingHeader.UNKNOWN_HOLDER));
    for (String text : List.of("", "0", "-1", " 917", "1e3", "9223372036854775808", TEXT)) {
      assertThatThrownBy(() -> FencingHeader.parseDigits(text, "a"))
          .as(text)
          .isInstanceOf(InvalidFencingHeaderException.class);
    }
    assertThatThrownBy(() -> FencingHeader.parseDigits("917", ""))
        .isInstanceOf(InvalidFencingHeaderException.class);
  }

  @Test
  void givenRefusals_whenTheyTravel_thenTheClientHasWhatTheGuardSaid() {
    for (StaleTokenException refusal :
        List.of(
            new StaleTokenException("row 42", TOKEN, TOKEN.value() + 5, "next"),
            new StaleTokenException("row 42", TOKEN, TOKEN.value(), "twin"),
            new StaleTokenException("row 42", TOKEN))) {
      String text = FencingHeader.formatRefusal(refusal);
      assertThat(FencingHeader.refusal(FencingHeader.status(refusal), text, "shop:443", TOKEN))
          .get()
          .satisfies(
              told -> {
                assertThat(told.refused()).isEqualTo(TOKEN);
                assertThat(told.currentToken()).isEqualTo(refusal.currentToken());
                assertThat(told.currentHolder()).isEqualTo(refusal.currentHolder());
                assertThat(told.isGrantedTwice()).isEqualTo(refusal.isGrantedTwice());
              });
      assertThat(FencingHeader.refusal(200, text, "shop", TOKEN)).isEmpty();
      assertThat(FencingHeader.refusal(412, null, "shop", TOKEN)).isEmpty();
      assertThat(FencingHeader.refusal(412, "nonsense", "shop", TOKEN)).isEmpty();
      assertThat(
              FencingHeader.refusal(
                  412, text, "shop", new FencingToken("invoice/42", 1, "session-7")))
          .isEmpty();
    }
  }
}
