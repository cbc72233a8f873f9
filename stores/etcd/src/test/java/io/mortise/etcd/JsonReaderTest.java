package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnfitException;
import io.mortise.etcd.JsonReader.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonReaderTest {
  @Test
  void givenAnswerOfEtcd_thenItsPartsAreFound_andWhatIsLeftOutIsZero() {
    JsonObject answer =
        JsonReader.read(
            """
            {"header":{"cluster_id":"1","revision":"9007199254740993","raft_term":2},
             "succeeded":true, "more":false, "none":null, "empty":[],
             "kvs":[{"key":"YQ==","mod_revision":"7"},{"key":"Yg=="}]}
            """);
    assertThat(answer.object("header").number("revision")).isEqualTo(9_007_199_254_740_993L);
    assertThat(answer.object("header").number("raft_term")).isEqualTo(2);
    assertThat(answer.flag("succeeded")).isTrue();
    assertThat(answer.flag("more")).isFalse();
    assertThat(answer.flag("missing")).isFalse();
    assertThat(answer.text("none")).isEmpty();
    assertThat(answer.number("missing")).isZero();
    assertThat(answer.objects("empty")).isEmpty();
    assertThat(answer.objects("missing")).isEmpty();
    assertThat(answer.objects("kvs"))
        .extracting(kv -> kv.text("key"))
        .containsExactly("YQ==", "Yg==");
    assertThat(answer.objects("kvs").get(1).number("mod_revision")).isZero();
  }

  @Test
  void givenEscapes_thenTheyAreRead_andWrittenTextIsReadAsItWas() {
    assertThat(JsonReader.read("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"}").text("a"))
        .isEqualTo("\"\\/\b\f\n\r\té");
    String text = "a \"quoted\" \\ path\n\u0001 é 😀";
    assertThat(JsonReader.read("{\"a\":" + JsonText.quoted(text) + "}").text("a")).isEqualTo(text);
    String encoded = JsonText.base64(text);
    assertThat(JsonText.plain(encoded.substring(1, encoded.length() - 1))).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "\"a\"",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":tru}",
        "{\"a\":\"b}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u00g0\"}",
        "{\"a\":[1,]}",
        "{} {}",
        "Not Found",
        "{a:1}"
      })
  void givenWhatIsNoObject_thenItIsRefused(String text) {
    assertThatThrownBy(() -> JsonReader.read(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenNumberBeyond64Bits_thenWhatAnswersIsNotEtcd_andItsTextIsQuoted() {
    String forged = "{\"revision\":\"99999999999999999999\\u001b[31m" + "9".repeat(1_000) + "\"}";
    JsonObject header = JsonReader.read(forged);
    assertThatThrownBy(() -> header.number("revision"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("is not etcd: its 'revision' is '99999999999999999999 [31m")
        .satisfies(failure -> assertThat(failure.getMessage()).hasSizeLessThan(400));
  }

  @Test
  void givenTextThatNestsDeeply_thenItIsRefused() {
    String deep = "{\"a\":" + "[".repeat(100_000);
    assertThatThrownBy(() -> JsonReader.read(deep)).isInstanceOf(IllegalArgumentException.class);
  }
}
