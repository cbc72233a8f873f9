package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.access.hierarchicalroles.RoleHierarchyImpl;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.core.GrantedAuthorityDefaults;

/** The roles that a hierarchy implies. */
class ConsoleRolesTest {
  private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
  private final ConsoleRoles roles = new ConsoleRoles(beans);

  private static HttpServletRequest of(String... authorities) {
    TestingAuthenticationToken user = new TestingAuthenticationToken("alice", "", authorities);
    return (HttpServletRequest)
        Proxy.newProxyInstance(
            ConsoleRolesTest.class.getClassLoader(),
            new Class<?>[] {HttpServletRequest.class},
            (proxy, method, arguments) ->
                method.getName().equals("getUserPrincipal") ? user : null);
  }

  private void hierarchy(String text) {
    RoleHierarchy hierarchy = RoleHierarchyImpl.fromHierarchy(text);
    beans.registerSingleton("hierarchy", hierarchy);
  }

  @Test
  void givenNoHierarchy_thenNoRoleIsImplied() {
    assertThat(roles.has(of("ROLE_ADMIN"), "ADMIN")).isFalse();
  }

  @Test
  void givenHierarchy_thenARoleImpliesThoseBelowIt_andNoOthers() {
    hierarchy("ROLE_ADMIN > ROLE_OPS\nROLE_OPS > ROLE_STAFF");
    assertThat(List.of("ADMIN", "OPS", "STAFF", "ROLE_OPS"))
        .allMatch(role -> roles.has(of("ROLE_ADMIN"), role));
    assertThat(roles.has(of("ROLE_STAFF"), "OPS")).isFalse();
    assertThat(roles.has(of("OPS", "SCOPE_OPS"), "OPS")).as("no roles").isFalse();
    assertThat(roles.has(of(), "OPS")).isFalse();
  }

  @Test
  void givenAnotherPrefix_thenRolesHaveThat() {
    hierarchy("ADMIN > OPS");
    assertThat(roles.has(of("ADMIN"), "OPS")).isFalse();
    beans.registerSingleton("defaults", new GrantedAuthorityDefaults(""));
    assertThat(roles.has(of("ADMIN"), "OPS")).isTrue();
  }
}
