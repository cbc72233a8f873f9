package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.testkit.BoundedWait;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.access.hierarchicalroles.RoleHierarchyImpl;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.security.web.csrf.CsrfTokenRequestAttributeHandler;
import org.springframework.security.web.csrf.CsrfTokenRequestHandler;
import org.springframework.security.web.csrf.XorCsrfTokenRequestAttributeHandler;

/** Access to the console, behind the application's security or without any. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class ConsoleAccessIT extends ConsoleRequests {
  @Test
  void givenNoSecurity_thenNobodyGetsIn() throws Exception {
    try (BootApp app = open("boot-console-open").set("mortise.console.allow=close").start();
        Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow()) {
      HttpResponse<String> refused = get(app, "/mortise/api/v1/status");
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains("Nobody is signed in").doesNotContain("mem:");
      headers.put("Origin", app.address());
      assertThat(post(app, evict(), holder(app)).statusCode()).isEqualTo(403);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void givenAnonymousIsSet_thenEverybodyMayLook_andNobodyMayAct() throws Exception {
    try (BootApp app =
            open("boot-console-anonymous")
                .set("mortise.console.anonymous=true", "mortise.console.allow=close")
                .start();
        Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow()) {
      assertThat(json(app, "/mortise/api/v1/status").get("allowed")).asString().isEqualTo("[]");
      headers.put("Origin", app.address());
      assertThat(post(app, evict(), holder(app)).statusCode()).isEqualTo(404);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void givenUserWithoutTheRole_thenIsRefused_andWithTheOtherRoleMayOnlyLook() throws Exception {
    signIn();
    try (BootApp app = secured("boot-console-role", "CUSTOMER").start()) {
      HttpResponse<String> refused = get(app, "/mortise/api/v1/status");
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).contains("You may not use this console");
    }
    try (BootApp app =
        secured("boot-console-roles", "SUPPORT")
            .set(
                "mortise.console.role=**",
                "mortise.console.allow-role=OPS",
                "mortise.console.allow=close")
            .start()) {
      assertThat(json(app, "/mortise/api/v1/status").get("allowed")).asString().isEqualTo("[]");
    }
  }

  @Test
  void givenAllowed_whenAttackersWrite_thenNothingIsDone_andThePageMayEvict() throws Exception {
    try (BootApp app =
        secured("boot-console-evict", "ADMIN").set("mortise.console.allow=close").start()) {
      Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow();
      signIn();
      assertThat(json(app, "/mortise/api/v1/status").get("allowed"))
          .asString()
          .isEqualTo("[close]");
      headers.put("Origin", app.address());
      String body = holder(app);
      assertThat(post(app, evict(), body).statusCode())
          .as("without the CSRF token of the application")
          // Without HTML, Spring Security asks to sign in again.
          .isIn(401, 403);
      takeWriteHeaders(app);
      headers.remove("Origin");
      assertThat(post(app, evict(), body).body()).contains("foreign-origin");
      headers.put("Origin", "https://evil.example");
      assertThat(post(app, evict(), body).body()).contains("foreign-origin");
      headers.put("Origin", app.address());
      headers.put("Sec-Fetch-Site", "same-site");
      assertThat(post(app, evict(), body).body()).contains("foreign-origin");
      headers.put("Sec-Fetch-Site", "same-origin");
      assertThat(
              http.send(
                      request(app, evict())
                          .header("Content-Type", "text/plain")
                          .POST(BodyPublishers.ofString(body))
                          .build(),
                      BodyHandlers.ofString())
                  .statusCode())
          .isEqualTo(415);
      assertThat(held.isValid()).isTrue();
      assertThat(post(app, evict(), body).body()).contains("hold_ended");
      assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
      // The next inspection shows the end of the hold.
      BoundedWait.until(
          LIMIT,
          "the history names the user who has ended the hold",
          () ->
              text(app, "/mortise/api/v1/events?kind=evicted").contains("ended by operator alice"));
    }
  }

  /** Signs in by a password, and hands the CSRF token to scripts in a cookie. */
  @Configuration(proxyBeanMethods = false)
  static class SinglePage {
    @Bean
    SecurityFilterChain chain(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(each -> each.anyRequest().authenticated())
          .httpBasic(Customizer.withDefaults())
          .csrf(SinglePage::spa)
          .build();
    }

    @Bean
    static RoleHierarchy roles() {
      return RoleHierarchyImpl.fromHierarchy("ROLE_ADMIN > ROLE_OPS");
    }

    /** {@code csrf.spa()}, or the code that Spring Security before 7 documents instead. */
    private static void spa(CsrfConfigurer<HttpSecurity> csrf) {
      try {
        CsrfConfigurer.class.getMethod("spa").invoke(csrf);
      } catch (NoSuchMethodException e) {
        csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse())
            .csrfTokenRequestHandler(new PlainInHeaders());
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static final class PlainInHeaders implements CsrfTokenRequestHandler {
    private final CsrfTokenRequestHandler plain = new CsrfTokenRequestAttributeHandler();
    private final CsrfTokenRequestHandler masked = new XorCsrfTokenRequestAttributeHandler();

    @Override
    public void handle(
        HttpServletRequest request, HttpServletResponse response, Supplier<CsrfToken> token) {
      masked.handle(request, response, token);
      CsrfToken unused = token.get();
    }

    @Override
    public String resolveCsrfTokenValue(HttpServletRequest request, CsrfToken token) {
      return (request.getHeader(token.getHeaderName()) == null ? masked : plain)
          .resolveCsrfTokenValue(request, token);
    }
  }

  @Test
  void givenSinglePageApplication_whenItsUserEvicts_thenTheSecondFormOfTheTokenIsTaken()
      throws Exception {
    try (BootApp app =
        secured("boot-console-spa", "ADMIN")
            .and(SinglePage.class)
            .set("mortise.console.role=OPS", "mortise.console.allow=close")
            .start()) {
      Lease held = app.locks().lock(NAME).tryAcquire().orElseThrow();
      signIn();
      List<Map<String, String>> forms = writeHeaders(app, "/mortise/api/v1/");
      assertThat(forms).hasSize(2);
      headers.put("Origin", app.address());
      String body = holder(app);
      headers.putAll(forms.get(0));
      HttpResponse<String> refused = post(app, evict(), body);
      assertThat(refused.statusCode()).as("by the application").isIn(401, 403);
      assertThat(refused.body()).doesNotContain("foreign-origin", "hold_ended");
      assertThat(held.isValid()).isTrue();
      headers.putAll(forms.get(1));
      assertThat(post(app, evict(), body).body()).contains("hold_ended");
      assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
    }
  }
}
