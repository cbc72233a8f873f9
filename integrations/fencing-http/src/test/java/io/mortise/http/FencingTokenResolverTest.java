package io.mortise.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.ServletRequestBindingException;
import org.springframework.web.context.request.ServletWebRequest;

class FencingTokenResolverTest {
  private static final FencingToken TOKEN = new FencingToken("a", 917, "h");

  private final FencingTokenResolver resolver = new FencingTokenResolver();

  @SuppressWarnings("unused") // Its parameters are inspected.
  void handler(FencingToken token, Optional<FencingToken> optional, Optional<String> other) {}

  private static MethodParameter parameter(int index) throws Exception {
    Method handler =
        FencingTokenResolverTest.class.getDeclaredMethod(
            "handler", FencingToken.class, Optional.class, Optional.class);
    return new MethodParameter(handler, index);
  }

  private @Nullable Object resolve(int index, @Nullable FencingToken token) throws Exception {
    HttpServletRequest request =
        (HttpServletRequest)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (proxy, method, args) -> method.getName().equals("getAttribute") ? token : null);
    return resolver.resolveArgument(parameter(index), null, new ServletWebRequest(request), null);
  }

  @Test
  void givenParameters_thenThoseOfTokensAreResolved_andNoOthers() throws Exception {
    assertThat(resolver.supportsParameter(parameter(0))).isTrue();
    assertThat(resolver.supportsParameter(parameter(1))).isTrue();
    assertThat(resolver.supportsParameter(parameter(2))).isFalse();
    assertThat(resolve(0, TOKEN)).isEqualTo(TOKEN);
    assertThat(resolve(1, TOKEN)).isEqualTo(Optional.of(TOKEN));
    assertThat(resolve(1, null)).isEqualTo(Optional.empty());
    assertThatThrownBy(() -> resolve(0, null)).isInstanceOf(ServletRequestBindingException.class);
  }
}
